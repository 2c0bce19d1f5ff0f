//! The state of a source that accepts items from outside before it gives them. A run that drains must not
//! lose accepted items.

use anabranch_record::sync::{AtomicBool, AtomicU64, Ordering};

/// Whether a source accepts items from outside, and how many it has accepted.
///
/// A run that drains closes its supply instead of its source, so the source still gives the accepted items. A
/// stopped run counts the items that were accepted, not those that the source was asked for.
#[derive(Debug, Default)]
pub(crate) struct Supply {
    is_closed: AtomicBool,
    accepted: AtomicU64,
}

impl Supply {
    /// Stops accepting items. A thread that accepts items must check [`is_closed`](Self::is_closed) under the
    /// lock under which the source looks first for items and then for the end.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    /// Whether no more items are accepted.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Counts an item if it was accepted. The caller must hold the lock of the items.
    pub(crate) fn accept(&self, is_accepted: bool) {
        self.accepted.fetch_add(u64::from(is_accepted), Ordering::Relaxed);
    }

    /// How many items were accepted. The number is final once the source was dropped.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}
