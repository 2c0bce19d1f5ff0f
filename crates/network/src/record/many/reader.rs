//! The reading view: receive, read or take, and release the items that are dealt to it.

use super::{
    core::{Core, Cursor, Which, checked},
    deal::{All, Deal, Owning},
    generation::Generation,
    lease::Lease,
    side::IDLE,
};
use crate::record::burst::{Items, OwningSide, ReadSide};
use crate::record::{store::Store, wait::wake_all};
use anabranch_record::mutant::Mutant;
use anabranch_record::{
    backoff::{Backoff, Polling},
    sync::{Arc, Ordering},
};
use std::{fmt, marker::PhantomData, ops::Range};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_WAKE_AFTER_A_LOST_READ_CLAIM: Mutant = Mutant("no_wake_after_a_lost_read_claim");
const RELAXED_READ_CELL: Mutant = Mutant("relaxed_read_cell");

/// A registered reader of a [`Record`](crate::record::Record).
pub struct ReadView<T, R: Deal> {
    pub(super) core: Arc<Core<T>>,
    pub(super) deal: R,
    /// The id, which is also the index of the view's cell. No other view writes to this cell (but see
    /// [`Cursor::cell`]).
    pub(super) id: usize,
    /// `next` is the first index of this view that it has not taken or released.
    pub(super) cursor: Cursor,
    /// The value of the cell. It is at most `cursor.next`, and lower only within a burst, or after a burst
    /// was forgotten.
    released: u64,
    /// The generation that serves `cursor.next`, or an earlier one.
    generation: Arc<Generation<T>>,
    /// Every item below this index was committed when the view last looked.
    pub(super) committed: u64,
    horizon: u64,
    pub(super) backoff: Backoff,
    /// Whether dropping the view ends its part of the stream.
    connected: bool,
    /// `Some` if the view can be ended from elsewhere.
    pub(super) lease: Option<Arc<Lease>>,
    /// A shared view shows its items by reference, so it is `Sync` only if `T` is.
    shows: PhantomData<T>,
}

impl<T, R: Deal> ReadView<T, R> {
    pub(super) fn new(
        core: Arc<Core<T>>,
        deal: R,
        id: usize,
        cursor: Cursor,
        generation: Arc<Generation<T>>,
        horizon: u64,
    ) -> Self {
        Self {
            core,
            deal,
            id,
            cursor,
            released: cursor.next,
            generation,
            committed: 0,
            horizon,
            backoff: Backoff::new(),
            connected: true,
            lease: None,
            shows: PhantomData,
        }
    }

    /// The index of the next item that the view will receive. With tickets, this is within its last claim.
    pub fn index(&self) -> u64 {
        self.cursor.next
    }

    /// The most items that one burst may have.
    pub fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// Begins to fetch the next `distance` items into the cache, as far as they are committed, and returns at
    /// once. It returns how many items are being fetched.
    ///
    /// This is the first phase of a split-phase receive. With [`Tickets`](crate::record::Tickets) it fetches only
    /// items that the view has claimed.
    pub fn ask(&mut self, distance: usize) -> usize {
        let wanted = self.cursor.next.saturating_add(distance as u64);
        let end = if R::TICKETS { self.cursor.end } else { self.deal.run_end(self.id, self.cursor.next) };
        if wanted > self.committed {
            self.committed = self.committed.max(self.core.writers.low());
        }
        let ready = wanted.min(end).min(self.committed).saturating_sub(self.cursor.next);
        if ready > 0 {
            self.generation.store(self.cursor.next).prefetch(self.cursor.next, ready);
        }
        ready as usize
    }

    /// Waits for the next `n` items.
    ///
    /// The burst is empty only at the end of the stream. It has fewer than `n` items
    ///
    /// - at the end of the stream, where the last items are left;
    /// - at the end of a [`Dealt`](crate::record::Dealt) range;
    /// - with [`Tickets`](crate::record::Tickets), if a claim was released in part or is taken over, because the rest
    ///   of a claim comes first.
    ///
    /// Items that were not released are received again by the next call.
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon.
    pub fn receive(&mut self, n: usize) -> Items<'_, Self> {
        let end = self.await_items(n, true).unwrap_or(self.cursor.next);
        Items::new(self, end)
    }

    /// Returns the next `n` items if they are committed, or if the stream has ended. It returns `None` if it
    /// would have to wait. The burst may be shorter for the same reasons as in [`receive`](Self::receive).
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon.
    pub fn try_receive(&mut self, n: usize) -> Option<Items<'_, Self>> {
        let end = self.await_items(n, false)?;
        Some(Items::new(self, end))
    }

    /// Makes the horizon wider. The record grows if it has to.
    ///
    /// # Panics
    /// If `horizon` is 0 or above 2^32.
    pub fn widen(&mut self, horizon: usize) {
        self.horizon = self.horizon.max(checked(horizon));
        self.core.widen(Which::Readers, self.horizon);
    }

    /// Disconnects and leaves the id to a successor, which continues with the first item that was not
    /// released.
    ///
    /// Items are kept until the successor has registered. If no handle of the record is left, no successor
    /// can register, and this view ends.
    pub fn leave(mut self) {
        if !self.is_over() {
            self.publish();
        }
        self.connected = false;
        if self.lease.as_ref().is_some_and(|lease| !lease.finish()) {
            return;
        }
        self.core.disconnect(Which::Readers, self.id, self.cursor, true);
    }

    /// Whether the view was ended from elsewhere. It must not touch its cell any more then.
    fn is_over(&self) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.is_revoked())
    }

    /// Begins a burst. Returns false if the view was ended from elsewhere.
    pub(super) fn begin(&self) -> bool {
        self.lease.as_ref().is_none_or(|lease| lease.begin())
    }

    /// Like [`find_items`](Self::find_items), for a view that may be ended from elsewhere.
    pub(in crate::record) fn await_items(&mut self, n: usize, wait: bool) -> Option<u64> {
        assert!(n > 0 && n as u64 <= self.horizon, "a burst has 1 to {} items, not {n}", self.horizon);
        if !self.begin() {
            return Some(self.cursor.next);
        }
        let end = self.find_items(n as u64, wait);
        if end.is_none() {
            self.finish();
        }
        end
    }

    /// The end of the next burst, or `None` if the view would have to wait and `wait` is false.
    fn find_items(&mut self, n: u64, wait: bool) -> Option<u64> {
        // A burst that was forgotten may have left the view at the end of its range.
        self.publish();
        if R::TICKETS {
            if self.cursor.next == self.cursor.end {
                self.claim(n, wait)?;
            }
            return Some(self.cursor.end.min(self.cursor.next + n));
        }
        let end = self.deal.run_end(self.id, self.cursor.next).min(self.cursor.next + n);
        if end > self.committed {
            let core = &*self.core;
            let look = || {
                let (committed, is_final) = core.writers.low_and_final();
                (committed >= end || is_final).then_some(committed)
            };
            self.committed = match (look(), wait) {
                (Some(committed), _) => committed,
                (None, false) => return None,
                (None, true) => core.items.wait_until(&self.backoff, Polling::Busy, look),
            };
        }
        Some(end.min(self.committed).max(self.cursor.next))
    }

    /// Claims the next `n` items, or fewer at the end of the stream, or takes over a claim. At the end of the
    /// stream it leaves an empty claim. Returns `None` if the view would have to wait and `wait` is false.
    fn claim(&mut self, n: u64, wait: bool) -> Option<()> {
        let core = &*self.core;
        let side = &core.readers;
        // The range that can be claimed, which is empty once the stream has ended. `None` if the view has to
        // wait.
        let look = |known: u64| {
            let from = side.claim.load(Ordering::Relaxed);
            if from + n <= known {
                return Some((from, from + n, known));
            }
            let (committed, is_final) = core.writers.low_and_final();
            let end = committed.min(from + n).max(from);
            (end == from + n || is_final).then_some((from, end, committed))
        };
        loop {
            if let Some((cursor, generation)) = core.adopt(Which::Readers) {
                self.cursor = cursor;
                self.generation = generation;
                self.released = cursor.next;
                return Some(());
            }
            let (from, to, committed) = match (look(self.committed), wait) {
                (Some(found), _) => found,
                (None, false) => return None,
                (None, true) => core.items.wait_until(&self.backoff, Polling::Busy, || {
                    let left = side.left.load(Ordering::Acquire) > 0;
                    // There is a claim to take over. The impossible range makes the loop start again.
                    if left { Some((u64::MAX, u64::MAX, 0)) } else { look(0) }
                }),
            };
            if from == u64::MAX {
                continue;
            }
            self.committed = self.committed.max(committed);
            if from == to {
                return Some(());
            }
            if side.claim(self.id, from, to) {
                self.cursor = Cursor { next: from, end: to, cell: self.id };
                self.released = from;
                return Some(());
            }
            if !NO_WAKE_AFTER_A_LOST_READ_CLAIM.is_on() {
                core.wake_both();
            }
        }
    }
}

// SAFETY: the items of a burst are committed, and dealt to this view or claimed by it. It is their only reader if the deal says so.
unsafe impl<T, R: Deal> ReadSide for ReadView<T, R> {
    type Item = T;

    #[inline]
    fn store(&self, index: u64) -> &Store<T> {
        self.generation.store(index)
    }

    #[inline]
    fn owns(&self) -> bool {
        R::OWNS
    }

    #[inline]
    fn open(&mut self) -> u64 {
        while let Some(newer) = self.generation.after(self.cursor.next) {
            self.generation = Arc::clone(newer);
        }
        self.cursor.next
    }

    #[inline]
    fn advance(&mut self, index: u64) {
        self.cursor.next = index;
    }

    #[inline]
    fn publish(&mut self) {
        if self.released == self.cursor.next {
            return;
        }
        let at = if !R::TICKETS {
            self.cursor.next = self.deal.own(self.id, self.cursor.next);
            self.cursor.next
        } else if self.cursor.next == self.cursor.end {
            IDLE
        } else {
            self.cursor.next
        };
        self.released = self.cursor.next;
        let order = if RELAXED_READ_CELL.is_on() { Ordering::Relaxed } else { Ordering::Release };
        self.core.readers.cells[self.cursor.cell].at.store(at, order);
        wake_all(&self.core.room);
    }

    /// If the view was ended before, its burst is empty, and nothing is left to do.
    fn finish(&self) {
        if self.lease.as_ref().is_some_and(|lease| lease.end()) {
            self.core.disconnect(Which::Readers, self.id, self.cursor, false);
        }
    }
}

impl<T, R: Owning> OwningSide for ReadView<T, R> {}

impl<T> ReadView<T, All> {
    /// Releases the items before `range` without reading them, and waits for the items in it (Erbium, section
    /// 3, `receive_range`). This serves subsampling, and readers that divide the work by index.
    ///
    /// # Panics
    /// If the range is empty, longer than the horizon, or begins before [`index`](Self::index).
    pub fn receive_range(&mut self, range: Range<u64>) -> Items<'_, Self> {
        assert!(
            range.start >= self.cursor.next,
            "the items before index {} are released already",
            self.cursor.next
        );
        assert!(range.start < range.end, "a range must have at least 1 index");
        if self.is_over() {
            let end = self.cursor.next;
            return Items::new(self, end);
        }
        // The release index may pass the commit index: `Core::low` uses the lower of the two.
        self.cursor.next = range.start;
        self.publish();
        self.receive(usize::try_from(range.end - range.start).unwrap_or(usize::MAX))
    }
}

impl<T, R: Deal> Drop for ReadView<T, R> {
    fn drop(&mut self) {
        if self.connected && self.lease.as_ref().is_none_or(|lease| lease.finish()) {
            self.publish();
            self.core.disconnect(Which::Readers, self.id, self.cursor, false);
        }
    }
}

impl<T, R: Deal> fmt::Debug for ReadView<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadView")
            .field("id", &self.id)
            .field("index", &self.index())
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}
