//! Progress: how far a run has come.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How far a run has come, as given to [`Stream::on_progress`](crate::Stream::on_progress).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Indices that have passed the sink: items of the source, whether a stage dropped them or made many.
    pub items: u64,
    /// What the stage [`count_bytes`](crate::Stream::count_bytes) has counted so far.
    pub bytes: u64,
    /// Time since the run began.
    pub elapsed: Duration,
}

/// Two calls of the user's function are at least so far apart.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// What `count_bytes` counts into.
pub(crate) type Bytes = Arc<AtomicU64>;

/// The user's function for progress.
pub(crate) type Callback<'env> = Box<dyn FnMut(Progress) + Send + 'env>;

/// Calls the user's function now and then.
pub(crate) struct Reporter<'env> {
    call: Callback<'env>,
    bytes: Bytes,
    began: Instant,
    last: Instant,
    /// How many items have passed, and whether the function knows that no more will.
    items: u64,
    has_ended: bool,
}

impl<'env> Reporter<'env> {
    pub(crate) fn new(call: Callback<'env>, bytes: Bytes) -> Self {
        let now = Instant::now();
        Self { call, bytes, began: now, last: now, items: 0, has_ended: false }
    }

    /// `items` have passed the sink; `last` says that no more will.
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

/// A run that was cancelled, or has panicked, ends too.
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
