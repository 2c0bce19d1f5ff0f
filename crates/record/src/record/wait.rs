//! How a view waits: it polls for a short while if that has paid lately, then sleeps on the event count.

use crate::{EventCount, sync};
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
    /// Calls `look` until it gives something, polling first and then sleeping on `event`.
    ///
    /// Whoever makes `look` succeed must give `event` a notice afterwards.
    #[cold]
    pub(super) fn until<R>(&mut self, event: &EventCount, mut look: impl FnMut() -> Option<R>) -> R {
        if let Some(found) = self.poll(&mut look) {
            return found;
        }
        loop {
            let ticket = event.prepare();
            match look() {
                Some(found) => {
                    event.leave();
                    return found;
                }
                None => event.wait(ticket),
            }
        }
    }

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

/// Wakes everybody who waits on `event`: one fence and one load while nobody does.
///
/// The fence pairs with the one in [`EventCount::prepare`]: either this load sees the sleeper, or the
/// sleeper's look after `prepare` sees what was stored before this call.
#[inline]
pub(super) fn wake_all(event: &EventCount) {
    #[cfg(not(mutant = "no_fence_in_wake_all"))]
    sync::fence(sync::Ordering::SeqCst);
    wake_sleepers(event);
}

/// The second half of [`wake_all`], for a caller that has made the fence already.
#[inline]
pub(super) fn wake_sleepers(event: &EventCount) {
    if event.sleepers() > 0 {
        event.notify_all();
    }
}
