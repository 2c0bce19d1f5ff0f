//! Raw slots, addressed by index modulo a power of two, with contiguous runs for bursts.
//!
//! A [`Store`] does not know who may touch a slot, nor which slots hold an item. The forms of the record
//! know, and each promises it in the SAFETY comment of every call.

use crate::sync::RawCell;
use std::mem::MaybeUninit;

/// A ring of slots that may or may not hold a `T`.
///
/// Invariant: none of its own. Dropping a store drops no item.
pub(super) struct Store<T> {
    /// A power of two of slots (or none at all). A slot may be touched by whoever the form says owns it.
    slots: Box<[RawCell<MaybeUninit<T>>]>,
}

// SAFETY: a store never touches a slot by itself, and each access is an unsafe call whose caller promises
// that it races with no other. What remains is that items change threads: `T: Send`. A form that lets two
// threads hold `&T` of one slot at a time must itself ask for `T: Sync`.
unsafe impl<T: Send> Sync for Store<T> {}
// SAFETY: as above; the store owns its slots.
unsafe impl<T: Send> Send for Store<T> {}

impl<T> Store<T> {
    /// A store of at least `capacity` slots, rounded up to a power of two; none if `capacity` is 0.
    pub(super) fn new(capacity: u64) -> Self {
        assert!(capacity <= 1 << 48, "a record holds at most 2^48 items, not {capacity}");
        let slots = if capacity == 0 { 0 } else { capacity.next_power_of_two() };
        Self { slots: (0..slots).map(|_| RawCell::new(MaybeUninit::uninit())).collect() }
    }

    #[inline]
    pub(super) fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    #[inline]
    fn slot(&self, index: u64) -> &RawCell<MaybeUninit<T>> {
        &self.slots[index as usize & self.slots.len().wrapping_sub(1)]
    }

    /// Writes `value` into the slot of `index`, without dropping what was there.
    ///
    /// # Safety
    /// No other access to this slot may overlap this one.
    #[inline]
    pub(super) unsafe fn put(&self, index: u64, value: T) {
        // SAFETY: the caller has the slot for itself.
        self.slot(index).with_mut(|slot| unsafe { (*slot).write(value) });
    }

    /// Moves the item out of the slot of `index`.
    ///
    /// # Safety
    /// The slot holds an item, which counts as gone afterwards; no other access to the slot overlaps this one
    /// except, where `T: Copy`, reads.
    #[inline]
    pub(super) unsafe fn take(&self, index: u64) -> T {
        // SAFETY: the slot holds an item that nobody else takes.
        self.slot(index).with(|slot| unsafe { (*slot).assume_init_read() })
    }

    /// The item in the slot of `index`.
    ///
    /// # Safety
    /// The slot holds an item, and nobody moves or overwrites it while the reference lives.
    #[inline]
    pub(super) unsafe fn get(&self, index: u64) -> &T {
        // SAFETY: the pointer is valid as long as `self`, and the caller promises the rest.
        self.slot(index).with(|slot| unsafe { (*slot).assume_init_ref() })
    }

    /// The contiguous run of slots that begins at `index`: its first slot and its length, at most `len`.
    ///
    /// Making the pointer touches nothing; using it needs the same promises as the single-slot calls.
    #[cfg(not(loom))]
    #[inline]
    pub(super) fn run(&self, index: u64, len: u64) -> (*mut T, usize) {
        const {
            // A cell has one field, so with equal size and alignment its value lies at offset 0, and a run of
            // cells is a run of values.
            assert!(size_of::<RawCell<MaybeUninit<T>>>() == size_of::<T>());
            assert!(align_of::<RawCell<MaybeUninit<T>>>() == align_of::<T>());
        }
        let at = index as usize & self.slots.len().wrapping_sub(1);
        let len = len.min(self.slots.len().saturating_sub(at) as u64) as usize;
        (self.slots.as_ptr().wrapping_add(at).cast::<T>().cast_mut(), len)
    }

    /// Asks the processor to fetch the slots of `len` indices from `index` on. A hint: it reads nothing.
    #[inline]
    pub(super) fn prefetch(&self, index: u64, len: u64) {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let lines = (len * size_of::<T>() as u64).div_ceil(64);
            let (mut from, mut left) = (self.run(index, len), len);
            for _ in 0..lines.min(1 << 16) {
                // SAFETY: a prefetch has no effect on memory, whatever the address.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(from.0.cast::<i8>()) };
                let step = (64 / size_of::<T>().max(1)).max(1).min(from.1) as u64;
                left -= step;
                from = self.run(index + len - left, left);
            }
        }
        let _ = (index, len);
    }
}
