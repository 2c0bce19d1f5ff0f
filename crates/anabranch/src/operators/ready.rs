//! The queue of what other threads have made ready for a stage, as [`Later`](crate::engine::Later) tells of it.

use std::collections::VecDeque;

use anabranch_record::sync::{AtomicUsize, Mutex, Ordering, lock};

/// A queue from any thread to the one that holds the stage.
#[derive(Debug)]
pub(super) struct Ready<R> {
    queue: Mutex<VecDeque<R>>,
    /// How many there are, for threads that only look.
    count: AtomicUsize,
}

impl<R> Ready<R> {
    pub(super) fn new() -> Self {
        Self { queue: Mutex::new(VecDeque::new()), count: AtomicUsize::new(0) }
    }

    /// Whether there are none. Only looks.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    pub(super) fn extend(&self, ready: impl IntoIterator<Item = R>) {
        let mut queue = lock(&self.queue);
        queue.extend(ready);
        self.count.store(queue.len(), Ordering::Release);
    }

    pub(super) fn take(&self) -> Option<R> {
        if self.is_empty() {
            return None;
        }
        let mut queue = lock(&self.queue);
        let first = queue.pop_front();
        self.count.store(queue.len(), Ordering::Release);
        first
    }
}
