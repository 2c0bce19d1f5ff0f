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
    of_streams: bool,
}

impl Supply {
    /// The supply of a source that gives the items of other streams. An order that stops this run stops these too, so the source goes
    /// on until they have ended.
    pub(crate) fn of_streams() -> Self {
        Self { of_streams: true, ..Self::default() }
    }

    /// Whether the items are those of other streams, which accept and count them.
    pub(crate) fn is_of_streams(&self) -> bool {
        self.of_streams
    }

    /// Asks the source to accept no more items. It may still accept some before it looks.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    /// Whether the source is to accept no more items.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Counts accepted items, when the source gives them, somebody takes them back, or they are dropped with the source.
    pub(crate) fn accept(&self, items: usize) {
        self.accepted.fetch_add(items as u64, Ordering::Relaxed);
    }

    /// How many items were accepted, once the source was dropped.
    pub(crate) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}
