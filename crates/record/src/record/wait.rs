//! The wait of a view. It polls for a short time if polling has paid lately, and then sleeps on an event
//! count.

use super::sleep::Sleep;
use crate::mutant::Mutant;
use crate::{EventCount, sync};
use std::time::Duration;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_FENCE_IN_WAKE_ALL: Mutant = Mutant("no_fence_in_wake_all");

/// How long a view polls before it sleeps. Waking a sleeping thread costs both sides together about as much time.
const POLL_TIME: Duration = Duration::from_micros(50);
/// How long a view polls after its last polls have found nothing.
const SHORT_POLL_TIME: Duration = Duration::from_micros(2);
/// After this many polls in a row that have found nothing, a view polls for `SHORT_POLL_TIME` only.
const FAILED_POLLS: u8 = 3;
/// After this many polls in a row that have found nothing, a view polls in only one of [`WAITS_A_POLL`] waits. If two
/// threads share a core, the one that polls keeps the other one from running.
const HOPELESS_POLLS: u8 = 16;
/// One of this many waits polls after [`HOPELESS_POLLS`], to find out whether polling pays again.
const WAITS_A_POLL: u8 = 16;
/// The most pauses between two looks. Each look may take the cache line away from the other side, so a view
/// that finds nothing looks less and less often. The other side then gets more done per transfer of the line.
const MOST_PAUSES: u32 = 16;

/// Remembers whether polling has paid lately.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// Waits in a row in which polling has not paid, below `HOPELESS_POLLS + WAITS_A_POLL`. Only the view's owner touches it.
    vain: u8,
}

impl Patience {
    /// Calls `look` until it returns a value. It polls first, and then sleeps on `event`.
    ///
    /// A thread that makes `look` succeed must notify `event` afterwards.
    #[cold]
    pub(super) fn until<R>(&mut self, event: &EventCount, mut look: impl FnMut() -> Option<R>) -> R {
        if let Some(found) = self.poll(&mut look) {
            return found;
        }
        loop {
            let key = event.prepare();
            match look() {
                Some(found) => {
                    event.leave();
                    return found;
                }
                None => event.wait(key),
            }
        }
    }

    /// Like [`until`](Self::until), for an event count that has a hook. It sleeps by means of `how`, and
    /// returns `None` if `how` gives up.
    #[cold]
    pub(super) fn until_by<R>(
        &mut self,
        event: &EventCount,
        how: &impl Sleep,
        mut look: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        if let Some(found) = self.poll(&mut look) {
            return Some(found);
        }
        loop {
            how.prepare();
            event.announce();
            if let Some(found) = look() {
                event.withdraw();
                how.cancel();
                return Some(found);
            }
            let goes_on = how.sleep();
            event.withdraw();
            if !goes_on {
                return look();
            }
            if let Some(found) = look() {
                return Some(found);
            }
        }
    }

    /// Polls for at most [`POLL_TIME`], if polling may pay. Under a model checker it does not poll: polling would add
    /// states there and save nothing.
    pub(super) fn poll<R>(&mut self, look: &mut impl FnMut() -> Option<R>) -> Option<R> {
        if cfg!(any(loom, shuttle)) {
            return None;
        }
        let vain = self.vain;
        self.vain = if vain + 1 == HOPELESS_POLLS + WAITS_A_POLL { HOPELESS_POLLS } else { vain + 1 };
        if vain > HOPELESS_POLLS {
            return None;
        }
        let limit = if vain < FAILED_POLLS { POLL_TIME } else { SHORT_POLL_TIME };
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
                return None;
            }
            pauses = MOST_PAUSES.min(pauses * 2);
        }
    }
}

/// Wakes every thread that waits on `event`. It costs one fence and one load if no thread waits.
///
/// The fence pairs with the one in [`EventCount::prepare`]. Either this load sees the sleeper, or the
/// sleeper's look after `prepare` sees what was stored before this call.
#[inline]
pub(super) fn wake_all(event: &EventCount) {
    if !NO_FENCE_IN_WAKE_ALL.is_on() {
        sync::fence(sync::Ordering::SeqCst);
    }
    wake_sleepers(event);
}

/// The second half of [`wake_all`], for a caller that has passed the fence already.
#[inline]
pub(super) fn wake_sleepers(event: &EventCount) {
    if event.sleepers() > 0 {
        event.notify_all();
    }
}
