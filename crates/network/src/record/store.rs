//! The memory of a record: slots addressed by index modulo a power of two, with contiguous runs for bursts.
//!
//! A [`Store`] does not know which thread may touch a slot, nor which slots hold an item. The forms of the
//! record know both, and each call says in its SAFETY comment why it is allowed.

use anabranch_record::sync::RawCell;
use std::mem::MaybeUninit;

/// A ring of slots, each of which may or may not hold a `T`.
///
/// The store has no invariant of its own. Dropping it drops no item.
pub(super) struct Store<T> {
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
    /// Creates a store of at least `capacity` slots, rounded up to a power of two. It has none if `capacity`
    /// is 0.
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

    /// Writes `value` into the slot of `index`, without dropping the slot's previous content.
    ///
    /// # Safety
    /// No other access to this slot may overlap this one.
    #[inline]
    pub(super) unsafe fn put(&self, index: u64, value: T) {
        // SAFETY: the caller has exclusive access to the slot.
        self.slot(index).with_mut(|slot| unsafe { (*slot).write(value) });
    }

    /// Moves the item out of the slot of `index`.
    ///
    /// # Safety
    /// The slot holds an item, which counts as gone afterwards. No other access to the slot may overlap this
    /// one, except for reads where `T: Copy`.
    #[inline]
    pub(super) unsafe fn take(&self, index: u64) -> T {
        // SAFETY: the slot holds an item, and no other thread takes it.
        self.slot(index).with(|slot| unsafe { (*slot).assume_init_read() })
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

    /// A mutable reference to the item in the slot of `index`.
    ///
    /// # Safety
    /// The slot holds an item, and no other access to the slot happens while the reference lives.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the caller has the slot for itself")]
    pub(super) unsafe fn get_mut(&self, index: u64) -> &mut T {
        // SAFETY: the pointer is valid as long as `self`, and the caller guarantees the rest.
        self.slot(index).with_mut(|slot| unsafe { (*slot).assume_init_mut() })
    }

    /// The contiguous run of slots that begins at `index`: a pointer to its first slot and its length, at
    /// most `len`.
    ///
    /// Creating the pointer touches nothing. Using it requires the same guarantees as the calls for single
    /// slots.
    #[cfg(not(loom))]
    #[inline]
    pub(super) fn run(&self, index: u64, len: u64) -> (*mut T, usize) {
        const {
            // A cell has one field. If size and alignment are equal, its value lies at offset 0, so a run of
            // cells is a run of values.
            assert!(size_of::<RawCell<MaybeUninit<T>>>() == size_of::<T>());
            assert!(align_of::<RawCell<MaybeUninit<T>>>() == align_of::<T>());
        }
        let at = index as usize & self.slots.len().wrapping_sub(1);
        let len = len.min(self.slots.len().saturating_sub(at) as u64) as usize;
        (self.slots.as_ptr().wrapping_add(at).cast::<T>().cast_mut(), len)
    }

    /// Asks the processor to fetch the slots of `len` indices, beginning at `index`. This is a hint and reads
    /// nothing.
    #[inline]
    pub(super) fn prefetch(&self, index: u64, len: u64) {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let lines = (len * size_of::<T>() as u64).div_ceil(64);
            let (mut from, mut left) = (self.run(index, len), len);
            for _ in 0..lines.min(1 << 16) {
                // SAFETY: a prefetch has no effect on memory, whatever the address is.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(from.0.cast::<i8>()) };
                let step = (64 / size_of::<T>().max(1)).max(1).min(from.1) as u64;
                left -= step;
                from = self.run(index + len - left, left);
            }
        }
        let _ = (index, len);
    }
}
