//! One side of a record: where each of its views stands, and the lowest of them.
//!
//! Erbium's `update` waits for the *minimum* commit index, its `stall` for the minimum release index. Each view
//! stores its own index in a cell of its own, and whoever needs the minimum reads them all. No view ever
//! writes to another's cell.
//!
//! With tickets, a view without a claim holds nobody up, so its cell is [`IDLE`], and the minimum includes the
//! claim counter: everything below it that no cell holds down is done. A view lowers its cell *before* it
//! moves the counter, so whoever sees the counter moved (and reads it first) sees the cell lowered too.

use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering, Padded};

/// The index of a cell that holds nobody up.
pub(super) const IDLE: u64 = u64::MAX;

/// Where one view stands.
pub(super) struct Seat {
    /// Every index below this one that belongs to the view is committed (released). Written with Release by
    /// the view that holds the seat, or the claim tracked here; under the record's lock when the view ends.
    pub(super) at: AtomicU64,
    /// The view has ended and takes no successor; `at` was stored before.
    pub(super) gone: AtomicBool,
}

/// Where all views of a side stand.
pub(super) struct Side {
    /// The next index that no view has claimed; [`IDLE`] for ever on a side without tickets. Rises by
    /// compare-and-swap of the claiming view.
    pub(super) claim: Padded<AtomicU64>,
    pub(super) seats: Box<[Padded<Seat>]>,
    pub(super) tickets: bool,
    /// How many views have not ended for good. Changes under the record's lock.
    pub(super) alive: AtomicUsize,
    /// How many claims of ended views wait for another view. Changes under the record's lock.
    pub(super) left: AtomicUsize,
}

impl Side {
    /// A side whose views stand at these indices; none of them with tickets.
    pub(super) fn new(tickets: bool, at: impl Iterator<Item = u64>) -> Self {
        let seat = |at| Padded(Seat { at: AtomicU64::new(at), gone: AtomicBool::new(false) });
        let seats: Box<[_]> = at.map(|at| seat(if tickets { IDLE } else { at })).collect();
        Self {
            claim: Padded(AtomicU64::new(if tickets { 0 } else { IDLE })),
            alive: AtomicUsize::new(seats.len()),
            seats,
            tickets,
            left: AtomicUsize::new(0),
        }
    }

    /// Everything below this index is done. May be lower than an earlier answer while a claim is being made.
    #[inline]
    pub(super) fn low(&self) -> u64 {
        // The counter first: see the module's text.
        #[cfg(not(mutant = "cells_before_the_counter"))]
        let claimed = self.claim.load(Ordering::Acquire);
        let low = self.seats.iter().map(|seat| seat.at.load(Ordering::Acquire)).fold(IDLE, u64::min);
        #[cfg(mutant = "cells_before_the_counter")]
        let claimed = self.claim.load(Ordering::Acquire);
        low.min(claimed)
    }

    /// As [`low`](Self::low), and whether it will not rise any more: the view that holds it has gone.
    pub(super) fn low_and_final(&self) -> (u64, bool) {
        if self.tickets {
            let over = self.alive.load(Ordering::Acquire) == 0;
            (self.low(), over)
        } else {
            let gone = |seat: &&Padded<Seat>| seat.gone.load(Ordering::Acquire);
            let end = self.seats.iter().filter(gone).map(|seat| seat.at.load(Ordering::Acquire)).min();
            let low = self.low();
            (low, end.is_some_and(|end| low >= end))
        }
    }

    /// Claims `from..to` for the view of `seat`, if `from` is still the next free index.
    ///
    /// If not, the cell was lower than it need be for a moment, and somebody may have gone to sleep over it:
    /// the caller must wake those who wait for this side.
    #[inline]
    pub(super) fn claim(&self, seat: usize, from: u64, to: u64) -> bool {
        let at = &self.seats[seat].at;
        #[cfg(not(mutant = "counter_before_the_cell"))]
        at.store(from, Ordering::Relaxed);
        let order = if cfg!(mutant = "relaxed_ticket") { Ordering::Relaxed } else { Ordering::AcqRel };
        let claimed = self.claim.compare_exchange(from, to, order, Ordering::Relaxed).is_ok();
        #[cfg(mutant = "counter_before_the_cell")]
        at.store(from, Ordering::Release);
        if !claimed {
            at.store(IDLE, Ordering::Release);
        }
        claimed
    }
}
