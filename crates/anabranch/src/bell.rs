//! Waiting for what comes from outside, but no longer than the run lasts.

use anabranch_record::EventCount;
use anabranch_record::sync::Arc;

use crate::cancel::CancelToken;

/// Before it sleeps, who waits looks so often...
pub(crate) const STEPS: u32 = 10;
/// ... of which so often without giving way to another thread: some microseconds in all.
const SPINS: u32 = 6;

/// The pause before another look.
pub(crate) fn pause(step: u32) {
    if step <= SPINS {
        (0..1 << step).for_each(|_| std::hint::spin_loop());
    } else {
        std::thread::yield_now();
    }
}

/// Wakes the thread of a source that waits for something from outside. The run wakes it too when it stops: a source
/// that waits is idle, and not at work that would have to be finished.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bell {
    /// The source's thread waits here, as all dedicated threads do: see `Run::wake_all`.
    pub(crate) event: Arc<EventCount>,
    /// Never asked to stop anything: it knows the run.
    pub(crate) run: CancelToken,
}

impl Bell {
    /// Makes who waits look again. What it shall find must be there already.
    pub(crate) fn ring(&self) {
        self.event.notify();
    }

    /// Waits until `look` finds something, or the run stops: then there is nothing.
    pub(crate) fn wait<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let mut found = look();
        for step in 0..STEPS {
            if found.is_some() {
                return found;
            }
            pause(step);
            found = look();
        }
        while found.is_none() {
            let key = self.event.prepare();
            found = look();
            let is_over = self.run.has_stopped_runs();
            if found.is_some() || is_over {
                self.event.leave();
            } else {
                self.event.wait(key);
            }
            if is_over {
                break;
            }
        }
        found
    }
}
