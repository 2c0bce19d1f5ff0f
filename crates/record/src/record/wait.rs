//! How a view waits before it sleeps: it polls for a short while if that has paid lately.

use crate::sync;
use std::time::Duration;

/// The longest a view polls before it sleeps: about what a wake-up of a sleeping thread costs both sides.
const LONG: Duration = Duration::from_micros(50);
/// How long it polls while polling has been in vain.
const SHORT: Duration = Duration::from_micros(2);
/// How many vain attempts make it poll `SHORT` only.
const VAIN: u8 = 3;
/// The most pauses between two looks. Each look may take the cache line away from the other side, so a view
/// that finds nothing looks less often: the other side gets more done per transfer of the line.
const PAUSES: u32 = 16;

/// A view's memory of whether polling has paid.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// Vain attempts in a row, up to `VAIN`. Touched by the view's owner only.
    vain: u8,
}

impl Patience {
    /// Polls for at most [`LONG`]. Not under a model checker, where a poll is a state and not a saving.
    pub(super) fn poll<R>(&mut self, look: &mut impl FnMut() -> Option<R>) -> Option<R> {
        if cfg!(any(loom, shuttle)) {
            return None;
        }
        let limit = if self.vain < VAIN { LONG } else { SHORT };
        let start = std::time::Instant::now();
        let mut pauses = 1;
        loop {
            for _ in 0..pauses {
                sync::spin_hint();
            }
            if let Some(found) = look() {
                self.vain = 0;
                return Some(found);
            }
            if start.elapsed() >= limit {
                self.vain = VAIN.min(self.vain + 1);
                return None;
            }
            pauses = PAUSES.min(pauses * 2);
        }
    }
}
