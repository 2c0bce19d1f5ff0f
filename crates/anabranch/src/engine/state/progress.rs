//! Progress: how far a run has come.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How far a run has come. The function of [`Watch::progress`](crate::Watch::progress) gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many items of the source have passed the end. An item counts once, even if a stage has dropped it
    /// or made several of it.
    pub items: u64,
    /// How many bytes the stage [`count_bytes`](crate::Stream::count_bytes) has counted so far.
    pub bytes: u64,
    /// The time since the run began.
    pub elapsed: Duration,
}

/// The least time between two calls of the user's function.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// The counter of `count_bytes`.
pub(crate) type Bytes = Arc<AtomicU64>;

/// The user's function for progress.
pub(crate) type Callback<'env> = Box<dyn FnMut(Progress) + Send + 'env>;

/// Calls the user's function at intervals.
pub(crate) struct Reporter<'env> {
    call: Callback<'env>,
    bytes: Bytes,
    began: Instant,
    last: Instant,
    /// How many items have passed.
    items: u64,
    /// Whether the function was told that no more items will pass.
    has_ended: bool,
}

impl<'env> Reporter<'env> {
    pub(crate) fn new(call: Callback<'env>, bytes: Bytes) -> Self {
        let now = Instant::now();
        Self { call, bytes, began: now, last: now, items: 0, has_ended: false }
    }

    /// Notes that `items` have passed the end. `last` says that no more will.
    pub(crate) fn passed(&mut self, items: u64, last: bool) {
        (self.items, self.has_ended) = (items, last);
        let now = Instant::now();
        if last || now - self.last >= INTERVAL {
            self.last = now;
            let bytes = self.bytes.load(Ordering::Relaxed);
            (self.call)(Progress { items, bytes, elapsed: now - self.began });
        }
    }
}

/// Reports the end of a run that was cancelled or has panicked.
impl Drop for Reporter<'_> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let items = self.items;
        let is_panicking = std::thread::panicking();
        let result = catch_unwind(AssertUnwindSafe(|| self.passed(items, true)));
        if let (Err(payload), false) = (result, is_panicking) {
            resume_unwind(payload);
        }
    }
}
