//! The writing view: stall, fill and commit the slots of the indices that are dealt to it.

use super::{
    core::{Core, Cursor, Which, checked},
    deal::WriteDeal,
    generation::Generation,
    lease::Lease,
    side::IDLE,
};
use crate::record::burst::{Slots, WriteSide};
use crate::record::{Closed, TryStallError, store::Store, wait::wake_all};
use anabranch_record::mutant::Mutant;
use anabranch_record::{
    backoff::{Backoff, Polling},
    sync::{Arc, Ordering},
};
use std::fmt;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_WAKE_AFTER_A_LOST_WRITE_CLAIM: Mutant = Mutant("no_wake_after_a_lost_write_claim");
const RELAXED_WRITE_CELL: Mutant = Mutant("relaxed_write_cell");
const NO_WAKE_OF_OTHER_WRITERS: Mutant = Mutant("no_wake_of_other_writers");

/// A registered writer of a [`Record`](crate::record::Record).
pub struct WriteView<T, W: WriteDeal> {
    pub(super) core: Arc<Core<T>>,
    pub(super) deal: W,
    /// The id, which is also the index of the view's cell. No other view writes to this cell (but see
    /// [`Cursor::cell`]).
    pub(super) id: usize,
    /// `next` is the first index of this view that is not committed.
    pub(super) cursor: Cursor,
    /// The generation that serves `cursor.next`, or an earlier one.
    generation: Arc<Generation<T>>,
    /// Slots below this index may be written, as far as the view knows. At most `core.limit`.
    pub(super) limit: u64,
    horizon: u64,
    pub(super) backoff: Backoff,
    /// Whether dropping the view ends its part of the stream.
    connected: bool,
    /// `Some` if the view can be ended from elsewhere.
    pub(super) lease: Option<Arc<Lease>>,
}

impl<T, W: WriteDeal> WriteView<T, W> {
    pub(super) fn new(
        core: Arc<Core<T>>,
        deal: W,
        id: usize,
        cursor: Cursor,
        generation: Arc<Generation<T>>,
        horizon: u64,
    ) -> Self {
        let backoff = Backoff::new();
        Self { core, deal, id, cursor, generation, limit: 0, horizon, backoff, connected: true, lease: None }
    }

    /// The index of the next item that the view will commit. With tickets, this is within its last claim.
    pub fn index(&self) -> u64 {
        self.cursor.next
    }

    /// The most slots that one stall may reserve.
    pub fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// Whether all readers have gone. If they have, nothing that is written will be read.
    pub fn is_closed(&self) -> bool {
        self.core.is_closed()
    }

    /// Reserves up to `n` slots. It waits while they would pass the horizon, and until every view has
    /// registered.
    ///
    /// The burst has fewer than `n` slots at the end of a [`Dealt`](crate::record::Dealt) range. With
    /// [`Tickets`](crate::record::Tickets) it has fewer if a claim was committed in part or is taken over from a view
    /// that has ended, because the rest of a claim comes first. Slots that were reserved but not committed
    /// are reserved again.
    ///
    /// # Errors
    /// [`Closed`] once all readers have gone.
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon, or at the index limit of 2^63 items.
    pub fn stall(&mut self, n: usize) -> Result<Slots<'_, Self>, Closed> {
        match self.reserve(n, true) {
            Ok(end) => Ok(Slots::new(self, end)),
            Err(_) => Err(Closed),
        }
    }

    /// Reserves up to `n` slots if it need not wait for them.
    ///
    /// # Errors
    /// [`TryStallError::Full`] while the slots would pass the horizon, or while not every view has
    /// registered. [`TryStallError::Closed`] once all readers have gone.
    ///
    /// # Panics
    /// The same as for [`stall`](Self::stall).
    pub fn try_stall(&mut self, n: usize) -> Result<Slots<'_, Self>, TryStallError> {
        self.reserve(n, false).map(|end| Slots::new(self, end))
    }

    /// Makes the horizon wider. The record grows if it has to.
    ///
    /// # Panics
    /// If `horizon` is 0 or above 2^32.
    pub fn widen(&mut self, horizon: usize) {
        self.horizon = self.horizon.max(checked(horizon));
        self.core.widen(Which::Writers, self.horizon);
    }

    /// Disconnects and leaves the id to a successor, which continues where this view stopped.
    ///
    /// Readers wait until the successor has registered. If no handle of the record is left, no successor can
    /// register, and the part of this view ends.
    pub fn leave(mut self) {
        self.connected = false;
        if self.lease.as_ref().is_some_and(|lease| !lease.finish()) {
            return;
        }
        self.core.disconnect(Which::Writers, self.id, self.cursor, true);
    }

    #[inline]
    pub(in crate::record) fn reserve(&mut self, n: usize, wait: bool) -> Result<u64, TryStallError> {
        let n = n as u64;
        assert!(n > 0 && n <= self.horizon, "a burst has 1 to {} slots, not {n}", self.horizon);
        if self.core.is_closed() || self.lease.as_ref().is_some_and(|lease| lease.is_revoked()) {
            return Err(TryStallError::Closed);
        }
        if W::TICKETS {
            if self.cursor.next == self.cursor.end {
                self.claim(n, wait)?;
            }
            return Ok(self.cursor.end.min(self.cursor.next + n));
        }
        let end = self.deal.run_end(self.id, self.cursor.next).min(self.cursor.next + n);
        if end > self.limit {
            self.limit = match (self.core.room(end), wait) {
                (Some(limit), _) => limit?,
                (None, false) => return Err(TryStallError::Full),
                (None, true) => {
                    let core = &*self.core;
                    core.room.wait_until(&self.backoff, Polling::Busy, || core.room(end))?
                }
            };
        }
        Ok(end)
    }

    /// Claims the next `n` indices, or takes over a claim.
    fn claim(&mut self, n: u64, wait: bool) -> Result<(), TryStallError> {
        let core = &*self.core;
        let side = &core.writers;
        loop {
            if let Some((cursor, generation)) = core.adopt(Which::Writers) {
                self.cursor = cursor;
                self.generation = generation;
                return Ok(());
            }
            let from = side.claim.load(Ordering::Relaxed);
            if from + n > self.limit {
                self.limit = match (core.room(from + n), wait) {
                    (Some(limit), _) => limit?,
                    (None, false) => return Err(TryStallError::Full),
                    (None, true) => core.room.wait_until(&self.backoff, Polling::Busy, || {
                        if side.left.load(Ordering::Acquire) > 0 {
                            return Some(Ok(0));
                        }
                        core.room(side.claim.load(Ordering::Relaxed) + n)
                    })?,
                };
                continue;
            }
            if side.claim(self.id, from, from + n) {
                self.cursor = Cursor { next: from, end: from + n, cell: self.id };
                return Ok(());
            }
            if !NO_WAKE_AFTER_A_LOST_WRITE_CLAIM.is_on() {
                core.wake_both();
            }
        }
    }
}

// SAFETY: the slots of a burst belong to this view, by its deal or by its claim, and lie below the limit. `open` drops what their
// readers have not taken.
unsafe impl<T, W: WriteDeal> WriteSide for WriteView<T, W> {
    type Item = T;

    #[inline]
    fn store(&self, index: u64) -> &Store<T> {
        self.generation.store(index)
    }

    fn open(&mut self, end: u64) -> u64 {
        let next = self.cursor.next;
        while let Some(newer) = self.generation.after(next) {
            self.generation = Arc::clone(newer);
        }
        if std::mem::needs_drop::<T>() {
            for index in next..end {
                // SAFETY: `next..end` belongs to this view and lies below the limit, so whoever used these
                // slots before has released them. They may still hold items that their readers did not take.
                unsafe { self.generation.store(index).clear(index) };
            }
        }
        next
    }

    #[inline]
    fn publish(&mut self, index: u64) {
        let side = &self.core.writers;
        let at = if !W::TICKETS {
            self.deal.own(self.id, index)
        } else if index == self.cursor.end {
            IDLE
        } else {
            index
        };
        self.cursor.next = if W::TICKETS { index } else { at };
        let order = if RELAXED_WRITE_CELL.is_on() { Ordering::Relaxed } else { Ordering::Release };
        side.cells[self.cursor.cell].at.store(at, order);
        if side.cells.len() == 1 || NO_WAKE_OF_OTHER_WRITERS.is_on() {
            wake_all(&self.core.items);
        } else {
            // Other writers may wait for this commit too, since the window also ends where indices are not
            // committed.
            self.core.wake_both();
        }
    }
}

impl<T, W: WriteDeal> Drop for WriteView<T, W> {
    fn drop(&mut self) {
        if self.connected && self.lease.as_ref().is_none_or(|lease| lease.finish()) {
            self.core.disconnect(Which::Writers, self.id, self.cursor, false);
        }
    }
}

impl<T, W: WriteDeal> fmt::Debug for WriteView<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteView")
            .field("id", &self.id)
            .field("index", &self.index())
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}
