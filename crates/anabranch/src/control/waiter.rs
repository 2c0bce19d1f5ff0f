//! Waiting for something from outside, but not longer than the run lasts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc as StdArc, OnceLock};
use std::time::Instant;

use anabranch_record::EventCount;
use anabranch_record::backoff::{Backoff, Polling};
use anabranch_record::fork::Birth;
use anabranch_record::sync::Arc;

use crate::control::CancelToken;

/// Wakes the thread of a source that waits for something from outside.
///
/// The run notifies it too when it stops: a source that waits has no work to finish.
///
/// In a [detached](crate::engine::detach) run, the source has no thread. Then the waiter never waits, and its event is that of
/// the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiter {
    /// The source's thread waits on this event, like all dedicated threads; see `Run::wake_all`.
    pub(crate) event: Arc<EventCount>,
    /// Connects the waiter with its run. This token is never used to stop the run.
    pub(crate) run: CancelToken,
    is_detached: StdArc<AtomicBool>,
    /// The process of the run, once it has begun.
    birth: StdArc<OnceLock<Birth>>,
    backoff: StdArc<Backoff>,
}

impl Waiter {
    /// Makes the waiting thread look again. The caller must have stored before what that look is to find.
    pub(crate) fn notify(&self) {
        self.event.notify();
    }

    /// Says that the run is detached, before it begins.
    pub(crate) fn detach(&self) {
        self.is_detached.store(true, Ordering::Relaxed);
    }

    /// Says that the run begins, in this process.
    pub(crate) fn begin(&self) {
        let _ = self.birth.set(Birth::here());
    }

    /// Whether this process was forked from the one in which the run has begun.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        self.birth.get().is_some_and(|birth| birth.is_forked())
    }

    /// Whether the run is detached, so that its source must not wait.
    pub(crate) fn is_detached(&self) -> bool {
        self.is_detached.load(Ordering::Relaxed)
    }

    /// Waits until `look` returns a value, or the run stops. In the second case the result is that of the
    /// last look.
    pub(crate) fn wait<T>(&self, look: impl FnMut() -> Option<T>) -> Option<T> {
        self.wait_until(None, look)
    }

    /// Like [`wait`](Self::wait), but not longer than until `deadline`, if there is one.
    pub(crate) fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let mut found = look().or_else(|| self.backoff.poll(Polling::Outside, &mut look));
        while found.is_none() {
            if let Some(birth) = self.birth.get() {
                birth.end_if_forked();
            }
            let key = self.event.prepare();
            found = look();
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let is_over = self.run.has_stopped_runs() || left.is_some_and(|left| left.is_zero());
            if found.is_some() || is_over {
                self.event.leave();
            } else if let Some(left) = left {
                self.event.wait_for(key, left);
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
