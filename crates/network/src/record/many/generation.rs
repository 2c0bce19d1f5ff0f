//! The slots of a record, which change when a wider view connects.
//!
//! Growth copies nothing and stops no view. The wider ring serves the indices from some index on, and the old
//! ring serves the indices below. Each view moves to the next generation as its own index passes the border.
//! The old ring is freed when the last view has passed it.

use crate::record::store::Store;
use anabranch_record::leftovers::Leftovers;
use anabranch_record::sync::{Arc, Ordering, RawCell};

/// The ring for the indices `first..until`. The slots have flags, so each item is dropped once, whichever view ends first.
///
/// `store.until` is `u64::MAX` while the ring is the newest. It is written once, with Release, under the record's lock, and before
/// any view may write so high an index.
pub(super) struct Generation<T> {
    /// The first index that this ring serves.
    first: u64,
    /// The ring after this one. It is written once, before `until`.
    next: RawCell<Option<Arc<Generation<T>>>>,
    store: Store<T>,
}

// SAFETY: `store` is reached only through unsafe calls whose callers guarantee exclusive access
// (see `Store`). `next` is written once, before the Release store of `until`, and read after an Acquire load
// of it.
unsafe impl<T: Send> Sync for Generation<T> {}
// SAFETY: as above; a generation owns its slots.
unsafe impl<T: Send> Send for Generation<T> {}

impl<T> Generation<T> {
    pub(super) fn new(first: u64, capacity: u64) -> Arc<Self> {
        Arc::new(Self { first, next: RawCell::new(None), store: Store::flagged(first, capacity) })
    }

    /// Ends this generation at `newer.first`.
    ///
    /// # Safety
    /// This is called once, under the record's lock, and before any view may write the index `newer.first`.
    pub(super) unsafe fn grow_into(&self, newer: Arc<Self>) {
        let until = newer.first;
        // SAFETY: no thread reads `next` before `until` is stored, and no other thread writes it.
        self.next.with_mut(|next| unsafe { *next = Some(newer) });
        self.store.until.store(until, Ordering::Release);
    }

    /// The generation after this one, if this one does not serve `index`.
    #[inline]
    pub(super) fn after(&self, index: u64) -> Option<&Arc<Self>> {
        if index < self.store.until.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: `until` is not the maximum any more, so `next` was written before and is never written
        // again.
        self.next.with(|next| unsafe { (*next).as_ref() })
    }

    /// The generation that serves `index`: this one or a later one.
    #[inline]
    pub(super) fn serving(&self, index: u64) -> &Self {
        let mut generation = self;
        while let Some(newer) = generation.after(index) {
            generation = newer;
        }
        generation
    }

    /// The memory of `index`.
    #[inline]
    pub(super) fn store(&self, index: u64) -> &Store<T> {
        &self.serving(index).store
    }
}

impl<T> Drop for Generation<T> {
    fn drop(&mut self) {
        let mut leftovers = Leftovers::default();
        for slot in 0..self.store.flags() {
            // SAFETY: no other reference to the generation is left, so every slot is accessed exclusively.
            leftovers.drop(|| unsafe { self.store.clear(slot) });
        }
    }
}
