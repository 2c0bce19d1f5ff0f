//! A ring of slots, addressed by 64-bit indices.
//!
//! The ring does not know which thread may touch a slot. Lanes and the inbox add that.

use std::sync::OnceLock;

/// The first segment of a ring has at most this many slots.
const FIRST_SLOTS: usize = 1 << 16;
/// The first segment of a ring has at most this many bytes, unless 64 slots need more.
const FIRST_BYTES: usize = 1 << 20;

/// A ring of slots of type `S`. An index is taken modulo the capacity.
///
/// A large ring creates its slots in segments. A segment is created when an index first maps to it, and has
/// as many slots as all segments before it together. The slots of a ring take at most twice the memory of
/// those that were used, or that of the first segment.
#[derive(Debug)]
pub(crate) struct Ring<S> {
    /// The first segment. It has all slots, unless the ring is large.
    first: Box<[S]>,
    /// The other segments.
    rest: Box<[OnceLock<Box<[S]>>]>,
    slot: fn() -> S,
    mask: usize,
}

impl<S> Ring<S> {
    /// How many slots the first segment of a large ring has, a power of two.
    const FIRST: usize = {
        let fitting = FIRST_BYTES / if size_of::<S>() == 0 { 1 } else { size_of::<S>() };
        let fitting = if fitting < 64 { 64 } else { 1 << fitting.ilog2() };
        if fitting > FIRST_SLOTS { FIRST_SLOTS } else { fitting }
    };

    /// Creates a ring of at least `capacity` slots: the capacity is rounded up to a power of two.
    ///
    /// # Panics
    /// If `capacity` is 0 or above 2^48.
    pub(crate) fn new(capacity: usize, slot: fn() -> S) -> Self {
        assert!(capacity > 0 && capacity as u64 <= 1 << 48, "a ring needs 1 to 2^48 slots, not {capacity}");
        let capacity = capacity.next_power_of_two();
        let first = slots(capacity.min(Self::FIRST), slot);
        let segments = (capacity / first.len()).ilog2() as usize;
        let rest = std::iter::repeat_with(OnceLock::new).take(segments).collect();
        Self { first, rest, slot, mask: capacity - 1 }
    }

    /// The slot that `index` maps to.
    #[inline]
    pub(crate) fn slot(&self, index: u64) -> &S {
        let position = index as usize & self.mask;
        match self.first.get(position) {
            Some(slot) => slot,
            None => self.further(position),
        }
    }

    #[inline(never)]
    fn further(&self, position: usize) -> &S {
        // Segment `n` begins at `first * 2^n`, and has as many slots.
        let number = (position / self.first.len()).ilog2();
        let size = self.first.len() << number;
        &self.rest[number as usize].get_or_init(|| slots(size, self.slot))[position - size]
    }

    /// All slots that were created.
    pub(crate) fn created(&self) -> impl Iterator<Item = &S> {
        self.first.iter().chain(self.rest.iter().filter_map(OnceLock::get).flatten())
    }
}

fn slots<S>(count: usize, slot: fn() -> S) -> Box<[S]> {
    std::iter::repeat_with(slot).take(count).collect()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn each_index_of_a_ring_has_a_slot_of_its_own_that_is_created_when_it_is_used() {
        let ring = Ring::new(1 << 40, || AtomicU64::new(0));
        let first = Ring::<AtomicU64>::FIRST as u64;
        let indices = [0, 1, first - 1, first, first + 1, 2 * first - 1, 2 * first, 3 * first, 4 * first - 1];
        for index in indices {
            assert_eq!(ring.slot(index).swap(index + 1, Ordering::Relaxed), 0, "{index}");
        }
        for index in indices {
            assert_eq!(ring.slot(index + (1 << 40)).load(Ordering::Relaxed), index + 1);
        }
        assert_eq!(ring.created().count() as u64, 4 * first);
        let used = ring.created().filter(|slot| slot.load(Ordering::Relaxed) > 0).count();
        assert_eq!(used, indices.len());
    }

    #[test]
    fn a_small_ring_has_its_slots_from_the_beginning() {
        for capacity in [1, 2, 3, 1_000, FIRST_SLOTS] {
            let ring = Ring::new(capacity, || ());
            assert_eq!(ring.created().count(), capacity.next_power_of_two());
        }
    }
}
