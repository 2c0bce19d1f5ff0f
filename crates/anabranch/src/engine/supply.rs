//! A source whose items were accepted before it gives them: a run that drains must not lose them.

use anabranch_record::sync::{AtomicBool, AtomicU64, Ordering};

/// Items that were accepted from outside and wait for the source to take them.
///
/// A run that drains closes its supply instead of its source, so that what was accepted is still handled. The counts of a
/// stopped run are those of the items that were accepted, not of those that the source was asked for.
#[derive(Debug, Default)]
pub(crate) struct Supply {
    is_closed: AtomicBool,
    accepted: AtomicU64,
}

impl Supply {
    /// Accepts nothing more. Whoever accepts items must look at [`is_closed`](Self::is_closed) under the lock under which the
    /// source looks for items and then for the end.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    /// Whether nothing more is accepted.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Counts an item, if it was accepted. To be called under the lock of the items.
    pub(crate) fn accept(&self, is_accepted: bool) {
        self.accepted.fetch_add(u64::from(is_accepted), Ordering::Relaxed);
    }

    /// How many items were accepted, once the source is gone.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}
