//! The writing view: stall, fill and commit the slots of the indices that are dealt to it.

use super::{
    core::{Core, Cursor, Which, checked},
    deal::WriteDeal,
    generation::Generation,
    lease::Lease,
    side::IDLE,
};
use crate::record::{Closed, TryStallError, wait::wake_all};
use anabranch_record::leftovers::Leftovers;
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
    pub fn stall(&mut self, n: usize) -> Result<ViewSlots<'_, T, W>, Closed> {
        match self.reserve(n, true) {
            Ok(end) => Ok(self.slots(end)),
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
    pub fn try_stall(&mut self, n: usize) -> Result<ViewSlots<'_, T, W>, TryStallError> {
        self.reserve(n, false).map(|end| self.slots(end))
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

    pub(super) fn slots(&mut self, end: u64) -> ViewSlots<'_, T, W> {
        let next = self.cursor.next;
        while let Some(newer) = self.generation.after(next) {
            self.generation = Arc::clone(newer);
        }
        if std::mem::needs_drop::<T>() {
            for index in next..end {
                // SAFETY: `next..end` belongs to this view and lies below the limit, so whoever used these
                // slots before has released them. They may still hold items that their readers did not take.
                unsafe { self.generation.serving(index).clear(index) };
            }
        }
        ViewSlots { written: next, end, view: self }
    }

    #[inline]
    pub(super) fn reserve(&mut self, n: usize, wait: bool) -> Result<u64, TryStallError> {
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

    /// Hands over this view's items below `index`.
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

/// Slots that a [`WriteView`] has reserved. They are private to it until they are committed. It works like
/// [`Slots`](crate::record::Slots).
#[must_use = "slots that are not committed will be reserved again"]
pub struct ViewSlots<'a, T, W: WriteDeal> {
    /// Its `cursor.next` is the first slot of the burst, until all are committed.
    view: &'a mut WriteView<T, W>,
    /// The slots from `cursor.next` up to this index hold items that are not handed over yet.
    written: u64,
    /// The burst ends before this index.
    end: u64,
}

impl<T, W: WriteDeal> ViewSlots<'_, T, W> {
    /// How many slots of the burst are not committed yet.
    pub fn len(&self) -> usize {
        // After the last commit of a dealt range the cursor is at the view's next range.
        self.end.saturating_sub(self.view.cursor.next) as usize
    }

    /// Whether every slot of the burst was committed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the first slot that is not committed.
    pub fn index(&self) -> u64 {
        self.view.cursor.next.min(self.end)
    }

    /// Writes the next item.
    ///
    /// # Panics
    /// If every slot of the burst is written.
    #[inline]
    pub fn push(&mut self, item: T) {
        assert!(self.written < self.end, "every slot of the burst is written: commit it and stall again");
        // SAFETY: the slots `next..end` belong to this view, by its deal or by its claim, and lie below the
        // limit. They were cleared when they were reserved.
        unsafe { self.view.generation.serving(self.written).put(self.written, item) };
        self.written += 1;
    }

    /// A mutable reference to the item at `position` among those that are written and not committed.
    #[inline]
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        let index = self.view.cursor.next.checked_add(position as u64)?;
        if index >= self.written {
            return None;
        }
        // SAFETY: the slots `next..written` hold items that only this view reaches, and the reference borrows
        // the burst mutably, so no other one exists and the item is not committed while it lives.
        Some(unsafe { self.view.generation.serving(index).get_mut(index) })
    }

    /// Writes items until the burst is full or the iterator ends. Returns how many items it wrote.
    ///
    /// If the iterator panics, the items that were written so far are dropped with the burst.
    pub fn fill(&mut self, items: impl IntoIterator<Item = T>) -> usize {
        let before = self.written;
        let mut items = items.into_iter();
        while self.written < self.end {
            let Some(item) = items.next() else { break };
            self.push(item);
        }
        (self.written - before) as usize
    }

    /// Hands over the items that were written so far and gives back the other slots.
    #[inline]
    pub fn commit(mut self) {
        self.commit_to(self.written);
    }

    /// Hands over the items below `index` and keeps the other slots. It does nothing if they were handed over
    /// already.
    ///
    /// # Panics
    /// If an item below `index` was not written.
    #[inline]
    pub fn commit_to(&mut self, index: u64) {
        assert!(
            index <= self.written,
            "cannot commit the items below {index}: only those below {} are written",
            self.written
        );
        if index > self.view.cursor.next {
            self.view.publish(index);
        }
    }
}

#[cfg(not(loom))]
impl<T: Copy + Default, W: WriteDeal> ViewSlots<'_, T, W> {
    /// The uncommitted slots as slices to write to: one slice, a second one if the window wraps around, and
    /// one more for each generation of a record that has grown. All of them count as written afterwards.
    ///
    /// The slots hold old items or `T::default()`.
    #[inline]
    pub fn slices_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        while self.written < self.end {
            let generation = self.view.generation.serving(self.written);
            if self.written < generation.fresh() {
                // SAFETY: as in `push`.
                unsafe { generation.put(self.written, T::default()) };
                self.written += 1;
            } else {
                // The rest of the run holds old items.
                self.written += generation.run(self.written, self.end).1 as u64;
            }
        }
        let view = &*self.view;
        let (mut from, end) = (view.cursor.next, self.end);
        std::iter::from_fn(move || {
            if from >= end {
                return None;
            }
            let (slots, len) = view.generation.serving(from).run(from, end);
            from += len as u64;
            // SAFETY: the slots belong to this view (see `push`), and no two slices overlap. Each slot holds
            // a value: an old one, or what was written above or by `push`. The slices borrow the burst
            // mutably, so they end before it is committed.
            Some(unsafe { std::slice::from_raw_parts_mut(slots, len) })
        })
    }
}

impl<T, W: WriteDeal> Drop for ViewSlots<'_, T, W> {
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            let mut leftovers = Leftovers::default();
            for index in self.view.cursor.next..self.written {
                // SAFETY: the slots `next..written` hold items that were not handed over.
                leftovers.drop(|| unsafe { self.view.generation.serving(index).clear(index) });
            }
        }
    }
}

impl<T, W: WriteDeal> fmt::Debug for ViewSlots<'_, T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewSlots")
            .field("index", &self.index())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
