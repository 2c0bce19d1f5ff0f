//! The slots of one lane and its counters. The ports decide who may touch which slot, and prove it.

use std::mem::{ManuallyDrop, MaybeUninit};

use super::cell::{Batch, Cell, Stop};
use crate::leftovers::Leftovers;
use crate::mutant::Mutant;
use crate::ring::Ring;
use crate::sync::{AtomicBool, AtomicU64, Ordering, Padded, RawCell};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const CLAIM_BY_A_STORE: Mutant = Mutant("claim_by_a_store");
const RELAXED_STAMP: Mutant = Mutant("relaxed_stamp");
const LOOK_WITHOUT_ACQUIRE: Mutant = Mutant("look_without_acquire");
const CLAIM_WITHOUT_ACQUIRE: Mutant = Mutant("claim_without_acquire");

/// The low bits of a stamp tell what the slot holds.
const KIND_BITS: u32 = 3;
const EMPTY: u64 = 0;
const VALUE: u64 = 1;
const BATCH: u64 = 2;
const END: u64 = 3;
const FAIL: u64 = 4;

/// One slot. `stamp >> KIND_BITS` is 0 before the first write, and afterwards 1 + the index that was last
/// written.
#[derive(Debug)]
struct Slot<T> {
    stamp: AtomicU64,
    content: RawCell<MaybeUninit<Content<T>>>,
}

/// The content of a slot besides its stamp. The stamp says which of the fields is valid, if one is.
union Content<T> {
    value: ManuallyDrop<T>,
    batch: ManuallyDrop<Box<Batch<T>>>,
}

/// Tells the compiler that the code behind a call is rarely reached.
#[cold]
fn rare() {}

/// A ring of slots between two ports.
///
/// The ports keep these invariants:
///
/// - Slot *i* is written once for each index that maps to it. The writer is the thread that holds index *i*
///   on the writing side, and it writes only after the value of the slot's previous index was taken.
/// - Slot *i* is read once for each index, by the thread that holds index *i* on the reading side. It reads
///   after the write was published, either by the slot's stamp or by `commit`.
/// - A content is *live* if its stamp says [`VALUE`] or [`BATCH`], and its index is not below `claim` and not below
///   `taken`.
#[derive(Debug)]
pub(super) struct Slots<T> {
    ring: Ring<Slot<T>>,
    /// Every index below this one is written. Only the writer raises it, and only in lanes whose writer is
    /// serial.
    pub(super) commit: Padded<AtomicU64>,
    /// Every index below this one belongs to a claim. Used only in lanes that a dealer reads.
    pub(super) claim: Padded<AtomicU64>,
    /// Every index below this one was taken by the serial reader. Only that reader raises it; others may
    /// look.
    pub(super) taken: Padded<AtomicU64>,
    /// Whether a batch was ever written. Batches need a drop, whatever the type of the values is.
    has_batches: AtomicBool,
}

// SAFETY: a value moves from one thread to another and is never shared. Only one side touches a slot at a
// time, and the stamp or `commit` (store-release, load-acquire) orders the write before the read.
unsafe impl<T: Send> Sync for Slots<T> {}
// SAFETY: the slots own their values.
unsafe impl<T: Send> Send for Slots<T> {}

impl<T> Slots<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            ring: Ring::new(capacity, || Slot {
                stamp: AtomicU64::new(0),
                content: RawCell::new(MaybeUninit::uninit()),
            }),
            commit: Padded::new(AtomicU64::new(0)),
            claim: Padded::new(AtomicU64::new(0)),
            taken: Padded::new(AtomicU64::new(0)),
            has_batches: AtomicBool::new(false),
        }
    }

    /// Whether slot `index` was written and stamped. If it was, the caller sees what was written.
    #[inline]
    pub(super) fn is_stamped(&self, index: u64) -> bool {
        let order = if LOOK_WITHOUT_ACQUIRE.is_on() { Ordering::Relaxed } else { Ordering::Acquire };
        self.ring.slot(index).stamp.load(order) >> KIND_BITS == index + 1
    }

    /// Writes slot `index` and stamps it with the memory ordering `order`.
    ///
    /// # Safety
    /// The caller holds `index` on the writing side and has not written it before. The cell of the slot's
    /// previous index was taken, and that happened before this call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn write(&self, index: u64, cell: Cell<T>, order: Ordering) {
        let slot = self.ring.slot(index);
        let store = |content: Content<T>| {
            slot.content.with_mut(|place| {
                // SAFETY: only the caller may touch the slot now, and what it held was moved out.
                unsafe { (*place).write(content) };
            });
        };
        let kind = match cell {
            Cell::Value(value) => {
                store(Content { value: ManuallyDrop::new(value) });
                VALUE
            }
            Cell::Empty => EMPTY,
            Cell::Stop(Stop::End) => END,
            Cell::Stop(Stop::Fail) => FAIL,
            Cell::Batch(batch) => {
                self.has_batches.store(true, Ordering::Relaxed);
                store(Content { batch: ManuallyDrop::new(batch) });
                BATCH
            }
        };
        slot.stamp.store((index + 1) << KIND_BITS | kind, order);
    }

    /// Takes the content of slot `index`.
    ///
    /// # Safety
    /// The caller holds `index` on the reading side and has not taken it before. It has seen that the slot
    /// was published, through an acquire load of its stamp or of a `commit` above `index`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn take(&self, index: u64) -> Cell<T> {
        let slot = self.ring.slot(index);
        let load = || {
            slot.content.with(|place| {
                // SAFETY: the stamp says that the writer stored a content. The write is published, and the
                // caller takes it once.
                unsafe { (*place).assume_init_read() }
            })
        };
        let kind = slot.stamp.load(Ordering::Relaxed) & ((1 << KIND_BITS) - 1);
        if kind == VALUE {
            // SAFETY: the stamp says that the content is a value.
            return Cell::Value(ManuallyDrop::into_inner(unsafe { load().value }));
        }
        // Otherwise the compiler makes a jump table of both, which costs each single value an indirect jump.
        rare();
        match kind {
            EMPTY => Cell::Empty,
            END => Cell::Stop(Stop::End),
            FAIL => Cell::Stop(Stop::Fail),
            // SAFETY: the stamp says that the content is a batch.
            _ => Cell::Batch(ManuallyDrop::into_inner(unsafe { load().batch })),
        }
    }
}

impl<T> Slots<T> {
    /// How many cells are committed and not yet claimed.
    #[inline]
    pub(super) fn unclaimed(&self) -> u64 {
        let commit = self.commit.load(Ordering::Acquire);
        commit.saturating_sub(self.claimed())
    }

    /// How many cells were claimed.
    #[inline]
    pub(super) fn claimed(&self) -> u64 {
        self.claim.load(Ordering::Relaxed)
    }

    /// Claims the first of the committed cells for the calling thread, at most `most` of them. Returns the
    /// first index and the index behind the last one, or `None` if there is no cell to claim or `most` is 0.
    #[inline]
    pub(super) fn claim_up_to(&self, most: u64) -> Option<(u64, u64)> {
        let mut first = self.claim.load(Ordering::Relaxed);
        loop {
            let order = if CLAIM_WITHOUT_ACQUIRE.is_on() { Ordering::Relaxed } else { Ordering::Acquire };
            let commit = self.commit.load(order);
            // The claim counter may have been read after a newer commit than `commit`, and so be above it.
            if first >= commit || most == 0 {
                return None;
            }
            let end = commit.min(first.saturating_add(most));
            if CLAIM_BY_A_STORE.is_on() {
                self.claim.store(end, Ordering::Relaxed);
                return Some((first, end));
            }
            match self.claim.compare_exchange_weak(first, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some((first, end)),
                Err(now) => first = now,
            }
        }
    }

    /// Writes slot `index`, and stamps it for the reader.
    ///
    /// # Safety
    /// As for [`write`](Self::write).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn put(&self, index: u64, cell: Cell<T>) {
        let order = if RELAXED_STAMP.is_on() { Ordering::Relaxed } else { Ordering::Release };
        // SAFETY: the caller guarantees what `write` demands.
        unsafe { self.write(index, cell, order) };
    }

    /// Records in the stamp that slot `index` no longer holds a value. Lanes that are read out of order need
    /// this, because no counter tells it.
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
        if !std::mem::needs_drop::<T>() && !self.has_batches.load(Ordering::Relaxed) {
            return;
        }
        let claimed = self.claim.load(Ordering::Relaxed);
        let gone = claimed.max(self.taken.load(Ordering::Relaxed));
        let mut leftovers = Leftovers::default();
        for slot in self.ring.created() {
            let stamp = slot.stamp.load(Ordering::Relaxed);
            let kind = stamp & ((1 << KIND_BITS) - 1);
            if matches!(kind, VALUE | BATCH) && (stamp >> KIND_BITS) > gone {
                leftovers.drop(|| {
                    slot.content.with_mut(|place| {
                        // SAFETY: the content is live (see the invariants of `Slots`), no other reference is left, and the
                        // stamp says which field is valid.
                        unsafe {
                            let content = (*place).assume_init_mut();
                            match kind {
                                VALUE => ManuallyDrop::drop(&mut content.value),
                                _ => ManuallyDrop::drop(&mut content.batch),
                            }
                        }
                    });
                });
            }
        }
    }
}
