//! The memory of a record: slots addressed by index modulo a power of two, with contiguous runs for bursts.
//!
//! A [`Store`] does not know which thread may touch a slot, nor which slots hold an item. The forms of the
//! record know both, and each call says in its SAFETY comment why it is allowed.

use super::burst::Places;
use anabranch_record::sync::RawCell;
use std::mem::MaybeUninit;

/// A ring of slots, each of which may or may not hold a `T`.
///
/// The store has no invariant of its own. Dropping it drops no item.
pub struct Store<T> {
    /// The slots of indices below this one have never held an item.
    #[cfg_attr(loom, expect(dead_code, reason = "only slices need it, and loom has no slices"))]
    fresh: u64,
    /// A power of two of slots, or none at all. The form of the record decides which thread may touch a slot.
    slots: Box<[RawCell<MaybeUninit<T>>]>,
}

// SAFETY: a store never touches a slot by itself. Each access is an unsafe call whose caller guarantees that
// it races with no other access. What remains is that items change threads, which `T: Send` allows. A form
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
        let fresh = first.saturating_add(slots);
        Self { fresh, slots: (0..slots).map(|_| RawCell::new(MaybeUninit::uninit())).collect() }
    }

    #[inline]
    pub(super) fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    #[inline]
    fn slot(&self, index: u64) -> &RawCell<MaybeUninit<T>> {
        &self.slots[index as usize & self.slots.len().wrapping_sub(1)]
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

impl<'s, T> Places<'s, T> for &'s Store<T> {
    #[inline]
    unsafe fn put(self, index: u64, item: T) {
        // SAFETY: the caller has exclusive access to the slot.
        self.slot(index).with_mut(|slot| unsafe { (*slot).write(item) });
    }

    #[inline]
    unsafe fn take(self, index: u64) -> T {
        // SAFETY: the slot holds an item, and no other thread takes it.
        self.slot(index).with(|slot| unsafe { (*slot).assume_init_read() })
    }

    #[inline]
    unsafe fn get(self, index: u64) -> &'s T {
        // SAFETY: the pointer is valid as long as the store, and the caller guarantees the rest.
        self.slot(index).with(|slot| unsafe { (*slot).assume_init_ref() })
    }

    #[inline]
    unsafe fn get_mut(self, index: u64) -> &'s mut T {
        // SAFETY: the pointer is valid as long as the store, and the caller guarantees the rest.
        self.slot(index).with_mut(|slot| unsafe { (*slot).assume_init_mut() })
    }

    #[cfg(not(loom))]
    #[inline]
    fn run(self, index: u64, end: u64) -> (*mut T, usize) {
        const {
            // A cell has one field. If size and alignment are equal, its value lies at offset 0, so a run of
            // cells is a run of values.
            assert!(size_of::<RawCell<MaybeUninit<T>>>() == size_of::<T>());
            assert!(align_of::<RawCell<MaybeUninit<T>>>() == align_of::<T>());
        }
        let at = index as usize & self.slots.len().wrapping_sub(1);
        let len = (end - index).min(self.slots.len().saturating_sub(at) as u64) as usize;
        (self.slots.as_ptr().wrapping_add(at).cast::<T>().cast_mut(), len)
    }

    #[cfg(not(loom))]
    #[inline]
    fn fresh(self) -> u64 {
        self.fresh
    }
}
