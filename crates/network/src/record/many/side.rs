//! One side of a record: how far each of its views has got, and the lowest of them.
//!
//! Erbium's `update` waits for the *lowest* commit index, and its `stall` for the lowest release index. Each
//! view stores its own index in its own cell, and a thread that needs the lowest index reads all cells. No
//! view writes to the cell of another.
//!
//! With tickets, a view without a claim must not hold the others up, so its cell is [`IDLE`]. The lowest
//! index then also takes in the claim counter: an index below the counter is done unless a cell is at or
//! below it. A view lowers its cell *before* it moves the counter. A thread that reads the counter first, and
//! sees it moved, therefore sees the lowered cell too.

use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering, Padded};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const CELLS_BEFORE_THE_COUNTER: Mutant = Mutant("cells_before_the_counter");
const COUNTER_BEFORE_THE_CELL: Mutant = Mutant("counter_before_the_cell");
const RELAXED_TICKET: Mutant = Mutant("relaxed_ticket");

/// The index of a cell for which no view has to wait.
pub(super) const IDLE: u64 = u64::MAX;

/// How far one view has got.
pub(super) struct ViewCell {
    /// Every index below this one that belongs to the view is committed (or released). It is written with
    /// Release, by the view that has this id or the claim that this cell tracks, and under the record's
    /// lock when the view ends.
    pub(super) at: AtomicU64,
    /// Whether the view has ended and takes no successor. `at` was stored before this was set.
    pub(super) gone: AtomicBool,
}

/// How far all views of a side have got.
pub(super) struct Side {
    /// The next index that no view has claimed. It is [`IDLE`] for ever on a side without tickets. A view
    /// that claims raises it by compare-and-swap.
    pub(super) claim: Padded<AtomicU64>,
    pub(super) cells: Box<[Padded<ViewCell>]>,
    pub(super) tickets: bool,
    /// How many views have not ended for good. It changes under the record's lock.
    pub(super) alive: AtomicUsize,
    /// How many claims of ended views wait for another view. It changes under the record's lock.
    pub(super) left: AtomicUsize,
}

impl Side {
    /// Creates a side whose views begin at the indices `at`. On a side with tickets the indices do not
    /// matter.
    pub(super) fn new(tickets: bool, at: impl Iterator<Item = u64>) -> Self {
        let cell = |at| Padded::new(ViewCell { at: AtomicU64::new(at), gone: AtomicBool::new(false) });
        let cells: Box<[_]> = at.map(|at| cell(if tickets { IDLE } else { at })).collect();
        Self {
            claim: Padded::new(AtomicU64::new(if tickets { 0 } else { IDLE })),
            alive: AtomicUsize::new(cells.len()),
            cells,
            tickets,
            left: AtomicUsize::new(0),
        }
    }

    /// Every index below this one is done. The result may be lower than an earlier one while a view makes a
    /// claim.
    #[inline]
    pub(super) fn low(&self) -> u64 {
        // The counter is read first; see the module's documentation.
        let mut claimed = self.claim.load(Ordering::Acquire);
        let low = self.cells.iter().map(|cell| cell.at.load(Ordering::Acquire)).fold(IDLE, u64::min);
        if CELLS_BEFORE_THE_COUNTER.is_on() {
            claimed = self.claim.load(Ordering::Acquire);
        }
        low.min(claimed)
    }

    /// Like [`low`](Self::low), and whether the index is final: whether the view that holds it down has
    /// ended.
    pub(super) fn low_and_final(&self) -> (u64, bool) {
        if self.tickets {
            let over = self.alive.load(Ordering::Acquire) == 0;
            (self.low(), over)
        } else {
            let gone = |cell: &&Padded<ViewCell>| cell.gone.load(Ordering::Acquire);
            let end = self.cells.iter().filter(gone).map(|cell| cell.at.load(Ordering::Acquire)).min();
            let low = self.low();
            (low, end.is_some_and(|end| low >= end))
        }
    }

    /// Claims `from..to` for view `id`, if `from` is still the next free index. Returns whether it
    /// did.
    ///
    /// After a failed claim the caller must wake the threads that wait for this side. The cell was lower than
    /// necessary for a moment, and a thread may have gone to sleep because of that.
    #[inline]
    pub(super) fn claim(&self, id: usize, from: u64, to: u64) -> bool {
        let at = &self.cells[id].at;
        if !COUNTER_BEFORE_THE_CELL.is_on() {
            at.store(from, Ordering::Relaxed);
        }
        let order = if RELAXED_TICKET.is_on() { Ordering::Relaxed } else { Ordering::AcqRel };
        let claimed = self.claim.compare_exchange(from, to, order, Ordering::Relaxed).is_ok();
        if COUNTER_BEFORE_THE_CELL.is_on() {
            at.store(from, Ordering::Release);
        }
        if !claimed {
            at.store(IDLE, Ordering::Release);
        }
        claimed
    }
}
