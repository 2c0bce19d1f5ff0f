//! The slots of one lane and its counters. Who may touch what is the ports' affair; they hold the proof.

use std::mem::MaybeUninit;

use super::cell::{Cell, Stop};
use crate::leftovers::Leftovers;
use crate::ring::Ring;
use crate::sync::{AtomicU64, Ordering, Padded, RawCell};

/// The low bits of a stamp say what the slot holds.
const KIND_BITS: u32 = 3;
const HAS_VALUE: u64 = 1;
const IS_END: u64 = 2;
const IS_FAIL: u64 = 4;

/// One slot. `stamp >> KIND_BITS` is 1 + the index that was last written here, 0 before the first.
#[derive(Debug)]
struct Slot<T> {
    stamp: AtomicU64,
    value: RawCell<MaybeUninit<T>>,
}

/// A ring of slots between two ports.
///
/// Invariants, kept by the ports:
/// - slot *i* is written once for each index that maps to it, by whoever holds index *i* on the writing side,
///   and only after the value of the index that used it before has been taken;
/// - it is read once, by whoever holds index *i* on the reading side, after the write was published (by its
///   stamp, or by `commit`);
/// - a value is *live* if its stamp has [`HAS_VALUE`] and its index is at or above `claim` and `taken`.
#[derive(Debug)]
pub(super) struct Slots<T> {
    ring: Ring<Slot<T>>,
    /// Indices below this are written. Only lanes whose writer is serial use it. Raised by the writer only.
    pub(super) commit: Padded<AtomicU64>,
    /// Indices below this belong to a claim. Only lanes read by a hop use it.
    pub(super) claim: Padded<AtomicU64>,
    /// Indices below this were taken by the serial reader, who alone raises it. Others may look at it.
    pub(super) taken: Padded<AtomicU64>,
}

// SAFETY: values move from one thread to another, never are shared: a slot is touched by one side at a time,
// and the stamp or `commit` (release, acquire) orders the write before the read.
unsafe impl<T: Send> Sync for Slots<T> {}
// SAFETY: the slots own their values.
unsafe impl<T: Send> Send for Slots<T> {}

impl<T> Slots<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            ring: Ring::new(capacity, |_| Slot {
                stamp: AtomicU64::new(0),
                value: RawCell::new(MaybeUninit::uninit()),
            }),
            commit: Padded(AtomicU64::new(0)),
            claim: Padded(AtomicU64::new(0)),
            taken: Padded(AtomicU64::new(0)),
        }
    }

    /// Whether slot `index` has been written and stamped. If so, what was written is visible to the caller.
    #[inline]
    pub(super) fn is_stamped(&self, index: u64) -> bool {
        let order = if cfg!(mutant = "look_without_acquire") { Ordering::Relaxed } else { Ordering::Acquire };
        self.ring.slot(index).stamp.load(order) >> KIND_BITS == index + 1
    }

    /// Writes slot `index` and stamps it with `order`.
    ///
    /// # Safety
    /// The caller holds `index` on the writing side, has not written it before, and whatever index used the
    /// slot before has been taken, with a happens-before edge to this call.
    #[inline]
    pub(super) unsafe fn write(&self, index: u64, cell: Cell<T>, order: Ordering) {
        let slot = self.ring.slot(index);
        let store = |value: T| {
            slot.value.with_mut(|place| {
                // SAFETY: the caller is the one who may touch the slot now; what it held was moved out.
                unsafe { (*place).write(value) };
            });
        };
        let kind = match cell {
            Cell::Value(value) => {
                store(value);
                HAS_VALUE
            }
            Cell::Empty => 0,
            Cell::Stop(value, stop) => {
                let kind = match stop {
                    Stop::End => IS_END,
                    Stop::Fail => IS_FAIL,
                };
                match value {
                    Some(value) => {
                        store(value);
                        kind | HAS_VALUE
                    }
                    None => kind,
                }
            }
        };
        slot.stamp.store((index + 1) << KIND_BITS | kind, order);
    }

    /// Takes what slot `index` holds.
    ///
    /// # Safety
    /// The caller holds `index` on the reading side, has not taken it before, and has seen that it was
    /// published (an acquire load of its stamp, or of a `commit` above it).
    #[inline]
    pub(super) unsafe fn take(&self, index: u64) -> Cell<T> {
        let slot = self.ring.slot(index);
        let load = || {
            slot.value.with(|place| {
                // SAFETY: the kind says that the writer stored a value; it is published, and the caller takes
                // it once.
                unsafe { (*place).assume_init_read() }
            })
        };
        match slot.stamp.load(Ordering::Relaxed) & ((1 << KIND_BITS) - 1) {
            HAS_VALUE => Cell::Value(load()),
            0 => Cell::Empty,
            kind => {
                let stop = if kind & IS_END != 0 { Stop::End } else { Stop::Fail };
                Cell::Stop((kind & HAS_VALUE != 0).then(load), stop)
            }
        }
    }
}

impl<T> Slots<T> {
    /// Notes in the stamp that slot `index` holds no value any more: for lanes that are read out of order, where
    /// no counter says so.
    ///
    /// # Safety
    /// The caller has taken the slot and still holds `index` on the reading side.
    #[inline]
    pub(super) unsafe fn forget(&self, index: u64) {
        self.ring.slot(index).stamp.store((index + 1) << KIND_BITS, Ordering::Relaxed);
    }
}

impl<T> Drop for Slots<T> {
    fn drop(&mut self) {
        if !std::mem::needs_drop::<T>() {
            return;
        }
        let claimed = self.claim.load(Ordering::Relaxed);
        let gone = claimed.max(self.taken.load(Ordering::Relaxed));
        let mut leftovers = Leftovers::default();
        for position in 0..self.ring.capacity() as u64 {
            let slot = self.ring.slot(position);
            let stamp = slot.stamp.load(Ordering::Relaxed);
            if stamp & HAS_VALUE != 0 && (stamp >> KIND_BITS) > gone {
                leftovers.drop(|| {
                    slot.value.with_mut(|place| {
                        // SAFETY: the value is live (the invariant of `Slots`), and nobody else is left.
                        unsafe { (*place).assume_init_drop() };
                    });
                });
            }
        }
    }
}
