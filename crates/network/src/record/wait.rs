//! Waking the views that wait on an event count.

use anabranch_record::mutant::Mutant;
use anabranch_record::{EventCount, sync};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_FENCE_IN_WAKE_ALL: Mutant = Mutant("no_fence_in_wake_all");

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
