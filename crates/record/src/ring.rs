//! The slot store: a power-of-two ring of slots addressed by 64-bit indices.
//!
//! It knows nothing of who may touch a slot; records and lanes add that.

/// A ring of `S`, addressed by index modulo its capacity.
#[derive(Debug)]
pub(crate) struct Ring<S> {
    slots: Box<[S]>,
    mask: usize,
}

impl<S> Ring<S> {
    /// A ring of at least `capacity` slots, rounded up to a power of two.
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

    /// The slot of `index`.
    #[inline]
    pub(crate) fn slot(&self, index: u64) -> &S {
        // The mask keeps the position in bounds, so the compiler's check is the only one and is cheap.
        &self.slots[index as usize & self.mask]
    }
}
