//! The slots of a record, which change when a wider view connects.
//!
//! Growth copies nothing and stops nobody: a wider ring serves the indices from some index on, the old ring those
//! below. Each view walks from one generation to the next as its index passes the border, and the old ring
//! goes when the last has passed.

use crate::leftovers::Leftovers;
use crate::{
    record::store::Store,
    sync::{Arc, AtomicU64, Ordering, RawCell},
};

/// The ring for the indices `first..until`.
///
/// Invariant: `full[slot]` says whether the slot holds an item that must be dropped, and may be touched by
/// whoever may touch the slot. So each item is dropped once, whoever ends first.
pub(super) struct Generation<T> {
    /// The first index that this ring serves.
    pub(super) first: u64,
    /// The first index that it does not serve; `u64::MAX` while it is the newest. Written once, with Release,
    /// under the record's lock, before any view is granted an index so high.
    until: AtomicU64,
    /// The ring after this one: written once, before `until`.
    next: RawCell<Option<Arc<Generation<T>>>>,
    store: Store<T>,
    /// One flag a slot; none for items that need no drop.
    full: Box<[RawCell<bool>]>,
}

// SAFETY: `store` and `full` are reached through unsafe calls only, whose callers promise exclusion (see
// `Store`); `next` is written once before the Release store of `until` and read after an Acquire load of it.
unsafe impl<T: Send> Sync for Generation<T> {}
// SAFETY: as above; a generation owns its slots.
unsafe impl<T: Send> Send for Generation<T> {}

impl<T> Generation<T> {
    pub(super) fn new(first: u64, capacity: u64) -> Arc<Self> {
        let store = Store::new(capacity);
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
    /// Called once, under the record's lock, before any view is granted the index `newer.first`.
    pub(super) unsafe fn grow_into(&self, newer: Arc<Self>) {
        let until = newer.first;
        // SAFETY: nobody reads `next` before `until` is stored, and nobody else writes it.
        self.next.with_mut(|next| unsafe { *next = Some(newer) });
        self.until.store(until, Ordering::Release);
    }

    /// The generation after this one, if this one does not serve `index`.
    #[inline]
    pub(super) fn after(&self, index: u64) -> Option<&Arc<Self>> {
        if index < self.until.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: `until` is no longer the maximum, so `next` was written before and is never written again.
        self.next.with(|next| unsafe { (*next).as_ref() })
    }

    /// The generation, from this one on, that serves `index`.
    #[inline]
    pub(super) fn serving(&self, index: u64) -> &Self {
        let mut generation = self;
        while let Some(newer) = generation.after(index) {
            generation = newer;
        }
        generation
    }

    /// Slots of indices below this one have never held an item.
    #[cfg(not(loom))]
    pub(super) fn fresh(&self) -> u64 {
        self.first.saturating_add(self.store.capacity())
    }

    #[inline]
    fn flag(&self, index: u64) -> &RawCell<bool> {
        &self.full[index as usize & (self.full.len() - 1)]
    }

    /// # Safety
    /// The caller has the slot of `index`, which holds no item to drop, for itself.
    #[inline]
    pub(super) unsafe fn put(&self, index: u64, item: T) {
        // SAFETY: passed on to the caller; the flag goes with the slot.
        unsafe { self.store.put(index, item) };
        if std::mem::needs_drop::<T>() {
            // SAFETY: as above.
            self.flag(index).with_mut(|full| unsafe { *full = true });
        }
    }

    /// # Safety
    /// The slot of `index` holds an item; the caller has it for itself (if `T: Copy`, others may read it).
    #[inline]
    pub(super) unsafe fn take(&self, index: u64) -> T {
        if std::mem::needs_drop::<T>() {
            // SAFETY: passed on to the caller; the flag goes with the slot.
            self.flag(index).with_mut(|full| unsafe { *full = false });
        }
        // SAFETY: as above.
        unsafe { self.store.take(index) }
    }

    /// Drops what the slot of `index` may hold.
    ///
    /// # Safety
    /// The caller has the slot for itself.
    #[inline]
    pub(super) unsafe fn clear(&self, index: u64) {
        // SAFETY: passed on to the caller; the flag goes with the slot, and says that there is an item.
        if std::mem::needs_drop::<T>() && self.flag(index).with(|full| unsafe { *full }) {
            // SAFETY: as above.
            drop(unsafe { self.take(index) });
        }
    }

    /// # Safety
    /// The slot of `index` holds an item that nobody moves or overwrites while the reference lives.
    #[inline]
    pub(super) unsafe fn get(&self, index: u64) -> &T {
        // SAFETY: passed on to the caller.
        unsafe { self.store.get(index) }
    }

    /// The contiguous run of slots from `index` on, at most to `end` and to the border of this generation.
    #[cfg(not(loom))]
    #[inline]
    pub(super) fn run(&self, index: u64, end: u64) -> (*mut T, usize) {
        self.store.run(index, end.min(self.until.load(Ordering::Acquire)) - index)
    }

    pub(super) fn prefetch(&self, index: u64, len: u64) {
        self.store.prefetch(index, len);
    }
}

impl<T> Drop for Generation<T> {
    fn drop(&mut self) {
        let mut leftovers = Leftovers::default();
        for slot in 0..self.full.len() as u64 {
            // SAFETY: the last owner has every slot for itself.
            leftovers.drop(|| unsafe { self.clear(slot) });
        }
    }
}
