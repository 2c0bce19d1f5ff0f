//! A ring of slots, addressed by 64-bit indices.
//!
//! The ring does not know which thread may touch a slot. Lanes and the inbox add that.

/// A ring of slots of type `S`. An index is taken modulo the capacity.
#[derive(Debug)]
pub(crate) struct Ring<S> {
    slots: Box<[S]>,
    mask: usize,
}

impl<S> Ring<S> {
    /// Creates a ring of at least `capacity` slots: the capacity is rounded up to a power of two.
    ///
    /// # Panics
    /// If `capacity` is 0 or above 2^48.
    pub(crate) fn new(capacity: usize, slot: impl FnMut(usize) -> S) -> Self {
        assert!(capacity > 0 && capacity as u64 <= 1 << 48, "a ring needs 1 to 2^48 slots, not {capacity}");
        let capacity = capacity.next_power_of_two();
        Self { slots: (0..capacity).map(slot).collect(), mask: capacity - 1 }
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The slot that `index` maps to.
    #[inline]
    pub(crate) fn slot(&self, index: u64) -> &S {
        // The mask keeps the position within bounds, so the bounds check never fails and is predicted well.
        &self.slots[index as usize & self.mask]
    }
}
