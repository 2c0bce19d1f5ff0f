//! The slots of a record, which change when a wider view connects.
//!
//! Growth copies nothing and stops no view. The wider ring serves the indices from some index on, and the old
//! ring serves the indices below. Each view moves to the next generation as its own index passes the border.
//! The old ring is freed when the last view has passed it.

use crate::record::{burst::Places, store::Store};
use anabranch_record::leftovers::Leftovers;
use anabranch_record::sync::{Arc, AtomicU64, Ordering, RawCell};

/// The ring for the indices `first..until`.
///
/// Invariant: `full[slot]` says whether the slot holds an item that must be dropped. A thread that may touch
/// the slot may also touch this flag. Each item is therefore dropped once, whichever view ends first.
pub struct Generation<T> {
    /// The first index that this ring serves.
    pub(super) first: u64,
    /// The first index that it does not serve, or `u64::MAX` while it is the newest. It is written once, with
    /// Release, under the record's lock, and before any view may write so high an index.
    until: AtomicU64,
    /// The ring after this one. It is written once, before `until`.
    next: RawCell<Option<Arc<Generation<T>>>>,
    store: Store<T>,
    /// One flag for each slot, or no flags if items need no drop.
    full: Box<[RawCell<bool>]>,
}

// SAFETY: `store` and `full` are reached only through unsafe calls whose callers guarantee exclusive access
// (see `Store`). `next` is written once, before the Release store of `until`, and read after an Acquire load
// of it.
unsafe impl<T: Send> Sync for Generation<T> {}
// SAFETY: as above; a generation owns its slots.
unsafe impl<T: Send> Send for Generation<T> {}

impl<T> Generation<T> {
    pub(super) fn new(first: u64, capacity: u64) -> Arc<Self> {
        let store = Store::new(first, capacity);
        let flags = if std::mem::needs_drop::<T>() { store.capacity() } else { 0 };
        Arc::new(Self {
            first,
            until: AtomicU64::new(u64::MAX),
            next: RawCell::new(None),
            store,
            full: (0..flags).map(|_| RawCell::new(false)).collect(),
        })
    }

    /// Ends this generation at `newer.first`.
    ///
    /// # Safety
    /// This is called once, under the record's lock, and before any view may write the index `newer.first`.
    pub(super) unsafe fn grow_into(&self, newer: Arc<Self>) {
        let until = newer.first;
        // SAFETY: no thread reads `next` before `until` is stored, and no other thread writes it.
        self.next.with_mut(|next| unsafe { *next = Some(newer) });
        self.until.store(until, Ordering::Release);
    }

    /// The generation after this one, if this one does not serve `index`.
    #[inline]
    pub(super) fn after(&self, index: u64) -> Option<&Arc<Self>> {
        if index < self.until.load(Ordering::Acquire) {
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

    #[inline]
    fn flag(&self, index: u64) -> &RawCell<bool> {
        &self.full[index as usize & (self.full.len() - 1)]
    }

    pub(super) fn prefetch(&self, index: u64, len: u64) {
        self.store.prefetch(index, len);
    }
}

impl<'s, T> Places<'s, T> for &'s Generation<T> {
    #[inline]
    unsafe fn put(self, index: u64, item: T) {
        // SAFETY: the caller's guarantee covers the slot, and the flag belongs to the slot.
        unsafe { self.store.put(index, item) };
        if std::mem::needs_drop::<T>() {
            // SAFETY: as above.
            self.flag(index).with_mut(|full| unsafe { *full = true });
        }
    }

    #[inline]
    unsafe fn take(self, index: u64) -> T {
        if std::mem::needs_drop::<T>() {
            // SAFETY: the caller's guarantee covers the slot, and the flag belongs to the slot.
            self.flag(index).with_mut(|full| unsafe { *full = false });
        }
        // SAFETY: as above.
        unsafe { self.store.take(index) }
    }

    /// Here the slot need not hold an item: its flag says whether it does.
    #[inline]
    unsafe fn clear(self, index: u64) {
        // SAFETY: the caller's guarantee covers the slot, and the flag belongs to the slot.
        if std::mem::needs_drop::<T>() && self.flag(index).with(|full| unsafe { *full }) {
            // SAFETY: as above, and the flag says that the slot holds an item.
            drop(unsafe { self.take(index) });
        }
    }

    #[inline]
    unsafe fn get(self, index: u64) -> &'s T {
        // SAFETY: passed on to the caller.
        unsafe { self.store.get(index) }
    }

    #[inline]
    unsafe fn get_mut(self, index: u64) -> &'s mut T {
        // SAFETY: passed on to the caller.
        unsafe { self.store.get_mut(index) }
    }

    /// The run ends where this generation does, too.
    #[cfg(not(loom))]
    #[inline]
    fn run(self, index: u64, end: u64) -> (*mut T, usize) {
        self.store.run(index, end.min(self.until.load(Ordering::Acquire)))
    }

    #[cfg(not(loom))]
    #[inline]
    fn fresh(self) -> u64 {
        self.store.fresh()
    }
}

impl<T> Drop for Generation<T> {
    fn drop(&mut self) {
        let mut leftovers = Leftovers::default();
        for slot in 0..self.full.len() as u64 {
            // SAFETY: no other reference to the generation is left, so every slot is accessed exclusively.
            leftovers.drop(|| unsafe { self.clear(slot) });
        }
    }
}
