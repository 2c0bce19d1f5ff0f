//! The memory of a record: slots addressed by index modulo a power of two, with contiguous runs for bursts.
//!
//! A [`Store`] does not know which thread may touch a slot. The forms of the record know it, and each call says in its SAFETY
//! comment why it is allowed.

use anabranch_record::sync::{AtomicU64, RawCell};
use std::mem::{MaybeUninit, needs_drop};

/// A ring of slots, each of which may or may not hold a `T`.
///
/// Invariant: if there are flags, the flag of a slot says whether it holds an item that must be dropped. A thread that may touch the
/// slot may also touch the flag. Dropping the store drops no item.
pub struct Store<T> {
    /// The slots of indices below this one have never held an item.
    #[cfg_attr(loom, expect(dead_code, reason = "only slices need it, and loom has no slices"))]
    fresh: u64,
    /// A power of two of slots, or none at all. The form of the record decides which thread may touch a slot.
    slots: Box<[RawCell<MaybeUninit<T>>]>,
    /// A flag for each slot. There are none if items need no drop, or if the form of the record knows where items are.
    full: Box<[RawCell<bool>]>,
    /// The first index that the store does not serve, or `u64::MAX`.
    pub(super) until: AtomicU64,
}

// SAFETY: a store never touches a slot by itself. Each access is an unsafe call whose caller guarantees that
// it races with no other access. Besides, items change threads, which `T: Send` allows. A form
// that lets two threads hold `&T` to one slot at the same time must itself require `T: Sync`.
unsafe impl<T: Send> Sync for Store<T> {}
// SAFETY: as above; the store owns its slots.
unsafe impl<T: Send> Send for Store<T> {}

impl<T> Store<T> {
    /// Creates a store of at least `capacity` slots, rounded up to a power of two, for the indices from `first` on. It has
    /// none if `capacity` is 0.
    pub(super) fn new(first: u64, capacity: u64) -> Self {
        assert!(capacity <= 1 << 48, "a record holds at most 2^48 items, not {capacity}");
        let slots = if capacity == 0 { 0 } else { capacity.next_power_of_two() };
        Self {
            fresh: first.saturating_add(slots),
            slots: (0..slots).map(|_| RawCell::new(MaybeUninit::uninit())).collect(),
            full: Box::new([]),
            until: AtomicU64::new(u64::MAX),
        }
    }

    /// Like [`new`](Self::new), with flags if items must be dropped.
    pub(super) fn flagged(first: u64, capacity: u64) -> Self {
        let store = Self::new(first, capacity);
        let flags = if needs_drop::<T>() { store.slots.len() } else { 0 };
        Self { full: (0..flags).map(|_| RawCell::new(false)).collect(), ..store }
    }

    /// How many slots have flags: all of them or none.
    pub(super) fn flags(&self) -> u64 {
        self.full.len() as u64
    }

    #[inline]
    fn slot(&self, index: u64) -> &RawCell<MaybeUninit<T>> {
        &self.slots[index as usize & self.slots.len().wrapping_sub(1)]
    }

    #[inline]
    fn flag(&self, index: u64) -> Option<&RawCell<bool>> {
        if needs_drop::<T>() { self.full.get(index as usize & self.full.len().wrapping_sub(1)) } else { None }
    }

    /// Writes `item` into the slot of `index`.
    ///
    /// # Safety
    /// The slot holds no item that must be dropped, and no other access to it overlaps this one.
    #[inline]
    pub(super) unsafe fn put(&self, index: u64, item: T) {
        // SAFETY: the caller has exclusive access to the slot.
        self.slot(index).with_mut(|slot| unsafe { (*slot).write(item) });
        if let Some(flag) = self.flag(index) {
            // SAFETY: the flag belongs to the slot.
            flag.with_mut(|full| unsafe { *full = true });
        }
    }

    /// Moves the item out of the slot of `index`.
    ///
    /// # Safety
    /// The slot holds an item, which counts as gone afterwards. No other access to the slot overlaps this one, except for
    /// reads where `T: Copy`.
    #[inline]
    pub(super) unsafe fn take(&self, index: u64) -> T {
        if let Some(flag) = self.flag(index) {
            // SAFETY: the flag belongs to the slot.
            flag.with_mut(|full| unsafe { *full = false });
        }
        // SAFETY: the slot holds an item, and no other thread takes it.
        self.slot(index).with(|slot| unsafe { (*slot).assume_init_read() })
    }

    /// Drops the item in the slot of `index`. If the slots have flags, it does nothing where there is no item.
    ///
    /// # Safety
    /// The slot holds an item, or there are flags. No other access to the slot overlaps this one.
    #[inline]
    pub(super) unsafe fn clear(&self, index: u64) {
        // SAFETY: the flag belongs to the slot.
        if needs_drop::<T>() && self.flag(index).is_none_or(|flag| flag.with(|full| unsafe { *full })) {
            // SAFETY: the slot holds an item, and the caller has exclusive access to it.
            drop(unsafe { self.take(index) });
        }
    }

    /// The item in the slot of `index`.
    ///
    /// # Safety
    /// The slot holds an item, and no thread moves or overwrites it while the reference lives.
    #[inline]
    pub(super) unsafe fn get(&self, index: u64) -> &T {
        // SAFETY: the pointer is valid as long as `self`, and the caller guarantees the rest.
        self.slot(index).with(|slot| unsafe { (*slot).assume_init_ref() })
    }

    /// The item in the slot of `index`, to be changed.
    ///
    /// # Safety
    /// The slot holds an item, and no other access to the slot happens while the reference lives.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the caller has the slot for itself")]
    pub(super) unsafe fn get_mut(&self, index: u64) -> &mut T {
        // SAFETY: the pointer is valid as long as `self`, and the caller guarantees the rest.
        self.slot(index).with_mut(|slot| unsafe { (*slot).assume_init_mut() })
    }

    /// The contiguous run of slots that begins at `index`: a pointer to its first slot, and its length. It ends at `end`, at the
    /// end of the ring, or where another store goes on.
    ///
    /// Creating the pointer touches nothing. Using it requires the same guarantees as the calls for single slots.
    #[cfg(not(loom))]
    #[inline]
    pub(super) fn run(&self, index: u64, end: u64) -> (*mut T, usize) {
        const {
            // A cell has one field. If size and alignment are equal, its value lies at offset 0, so a run of
            // cells is a run of values.
            assert!(size_of::<RawCell<MaybeUninit<T>>>() == size_of::<T>());
            assert!(align_of::<RawCell<MaybeUninit<T>>>() == align_of::<T>());
        }
        let at = index as usize & self.slots.len().wrapping_sub(1);
        let end = end.min(self.until.load(anabranch_record::sync::Ordering::Acquire));
        let len = (end - index).min(self.slots.len().saturating_sub(at) as u64) as usize;
        (self.slots.as_ptr().wrapping_add(at).cast::<T>().cast_mut(), len)
    }

    /// The slots of indices below this one have never held an item. The others hold an item, or the bits of a `Copy` item.
    #[cfg(not(loom))]
    #[inline]
    pub(super) fn fresh(&self) -> u64 {
        self.fresh
    }

    /// Asks the processor to fetch the slots of `len` indices, beginning at `index`. This is a hint and reads
    /// nothing.
    #[inline]
    pub(super) fn prefetch(&self, index: u64, len: u64) {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let lines = (len * size_of::<T>() as u64).div_ceil(64);
            let (mut from, mut left) = (self.run(index, index + len), len);
            for _ in 0..lines.min(1 << 16) {
                // SAFETY: a prefetch has no effect on memory, whatever the address is.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(from.0.cast::<i8>()) };
                let step = (64 / size_of::<T>().max(1)).max(1).min(from.1) as u64;
                left -= step;
                from = self.run(index + len - left, index + len);
            }
        }
        let _ = (index, len);
    }
}
