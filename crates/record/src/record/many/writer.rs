//! The writing view: stall, fill, commit, on the indices that are dealt to it.

use super::{
    core::{Core, Place, Which},
    deal::WriteDeal,
    generation::Generation,
    side::IDLE,
};
use crate::leftovers::Leftovers;
use crate::{
    record::{Closed, TryStallError, wait::Patience, wait::wake_all},
    sync::{Arc, Ordering},
};
use std::fmt;

/// A registered writer of a [`Record`](crate::Record).
pub struct WriteView<T, W: WriteDeal> {
    core: Arc<Core<T>>,
    deal: W,
    /// The id, and the index of the seat that nobody else writes to (but see [`Place::cell`]).
    seat: usize,
    /// `next` is the first index of its own that is not committed.
    place: Place,
    /// Serves `place.next`, or an index before it.
    generation: Arc<Generation<T>>,
    /// Slots below may be written, when last looked: at most `core.limit`.
    limit: u64,
    horizon: u64,
    patience: Patience,
    /// Whether dropping it ends its part of the stream.
    connected: bool,
}

impl<T, W: WriteDeal> WriteView<T, W> {
    pub(super) fn new(
        core: Arc<Core<T>>,
        deal: W,
        seat: usize,
        place: Place,
        generation: Arc<Generation<T>>,
        horizon: u64,
    ) -> Self {
        let patience = Patience::default();
        Self { core, deal, seat, place, generation, limit: 0, horizon, patience, connected: true }
    }

    /// The index of the next item that it will commit; with tickets, of the last claim.
    pub fn index(&self) -> u64 {
        self.place.next
    }

    /// The most slots that one stall may reserve.
    pub fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// True once all readers have gone: nothing that is written will be read.
    pub fn is_closed(&self) -> bool {
        self.core.is_closed()
    }

    /// Reserves up to `n` slots, waiting while they would pass the horizon.
    ///
    /// With [`Dealt`](crate::Dealt) indices there are fewer at the end of a range; with
    /// [`Tickets`](crate::Tickets) when a claim was committed in part, or is taken over from a view that ended:
    /// what is left of a claim comes first. Slots that were reserved but not committed are reserved again.
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

    /// Reserves up to `n` slots if that needs no waiting.
    ///
    /// # Errors
    /// [`TryStallError::Full`] while the slots would pass the horizon or not all views have registered,
    /// [`TryStallError::Closed`] once all readers have gone.
    ///
    /// # Panics
    /// As [`stall`](Self::stall).
    pub fn try_stall(&mut self, n: usize) -> Result<ViewSlots<'_, T, W>, TryStallError> {
        self.reserve(n, false).map(|end| self.slots(end))
    }

    /// Makes the horizon wider; the record grows if it must.
    ///
    /// # Panics
    /// If `horizon` is above 2^32.
    pub fn widen(&mut self, horizon: usize) {
        self.horizon = self.horizon.max(super::checked(horizon));
        self.core.widen(Which::Writers, self.horizon);
    }

    /// Disconnects, leaving the id to a successor that goes on where this view stopped. Until it has registered,
    /// readers wait. If no handle of the record is left, nobody can succeed, and the part of this view ends.
    pub fn leave(mut self) {
        self.connected = false;
        self.core.disconnect(Which::Writers, self.seat, self.place, true);
    }

    fn slots(&mut self, end: u64) -> ViewSlots<'_, T, W> {
        let next = self.place.next;
        while let Some(newer) = self.generation.after(next) {
            self.generation = Arc::clone(newer);
        }
        if std::mem::needs_drop::<T>() {
            for index in next..end {
                // SAFETY: `next..end` is this view's and below the limit, so whoever used these slots before
                // has released them. What is in them still are items of readers that take none.
                unsafe { self.generation.serving(index).clear(index) };
            }
        }
        ViewSlots { written: next, end, view: self }
    }

    #[inline]
    fn reserve(&mut self, n: usize, wait: bool) -> Result<u64, TryStallError> {
        let n = n as u64;
        assert!(n > 0 && n <= self.horizon, "a burst has 1 to {} slots, not {n}", self.horizon);
        if self.core.is_closed() {
            return Err(TryStallError::Closed);
        }
        if W::TICKETS {
            if self.place.next == self.place.end {
                self.claim(n, wait)?;
            }
            return Ok(self.place.end.min(self.place.next + n));
        }
        let end = self.deal.run_end(self.seat, self.place.next).min(self.place.next + n);
        if end > self.limit {
            self.limit = match (self.core.room(end), wait) {
                (Some(limit), _) => limit?,
                (None, false) => return Err(TryStallError::Full),
                (None, true) => {
                    let core = &*self.core;
                    self.patience.until(&core.room, || core.room(end))?
                }
            };
        }
        Ok(end)
    }

    /// Claims the next `n` indices, or takes a claim over.
    fn claim(&mut self, n: u64, wait: bool) -> Result<(), TryStallError> {
        let core = &*self.core;
        let side = &core.writers;
        loop {
            if let Some((place, generation)) = core.adopt(Which::Writers) {
                self.place = place;
                self.generation = generation;
                return Ok(());
            }
            let from = side.claim.load(Ordering::Relaxed);
            if from + n > self.limit {
                self.limit = match (core.room(from + n), wait) {
                    (Some(limit), _) => limit?,
                    (None, false) => return Err(TryStallError::Full),
                    (None, true) => self.patience.until(&core.room, || {
                        if side.left.load(Ordering::Acquire) > 0 {
                            return Some(Ok(0));
                        }
                        core.room(side.claim.load(Ordering::Relaxed) + n)
                    })?,
                };
                continue;
            }
            if side.claim(self.seat, from, from + n) {
                self.place = Place { next: from, end: from + n, cell: self.seat };
                return Ok(());
            }
            #[cfg(not(mutant = "no_wake_after_a_lost_write_claim"))]
            core.wake_both();
        }
    }

    /// Hands this view's items below `index` over.
    #[inline]
    fn publish(&mut self, index: u64) {
        let side = &self.core.writers;
        let at = if !W::TICKETS {
            self.deal.own(self.seat, index)
        } else if index == self.place.end {
            IDLE
        } else {
            index
        };
        self.place.next = if W::TICKETS { index } else { at };
        let order = if cfg!(mutant = "relaxed_write_cell") { Ordering::Relaxed } else { Ordering::Release };
        side.seats[self.place.cell].at.store(at, order);
        if side.seats.len() == 1 || cfg!(mutant = "no_wake_of_other_writers") {
            wake_all(&self.core.items);
        } else {
            // Other writers may wait for this commit too: the window ends at the floor, and that is committed.
            self.core.wake_both();
        }
    }
}

impl<T, W: WriteDeal> Drop for WriteView<T, W> {
    fn drop(&mut self) {
        if self.connected {
            self.core.disconnect(Which::Writers, self.seat, self.place, false);
        }
    }
}

impl<T, W: WriteDeal> fmt::Debug for WriteView<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteView")
            .field("id", &self.seat)
            .field("index", &self.index())
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}

/// Slots that a [`WriteView`] has reserved: private until committed. As [`Slots`](crate::Slots).
#[must_use = "slots that are not committed are reserved again"]
pub struct ViewSlots<'a, T, W: WriteDeal> {
    /// Its `place.next` is the first slot of the burst, until all are committed.
    view: &'a mut WriteView<T, W>,
    /// Slots from there to here hold items that nobody else knows of.
    written: u64,
    /// The burst ends before this index.
    end: u64,
}

impl<T, W: WriteDeal> ViewSlots<'_, T, W> {
    /// How many slots the burst has left to commit.
    pub fn len(&self) -> usize {
        // After the last commit of a dealt range the view stands at its next range.
        self.end.saturating_sub(self.view.place.next) as usize
    }

    /// True if every slot of the burst was committed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the first uncommitted slot.
    pub fn index(&self) -> u64 {
        self.view.place.next.min(self.end)
    }

    /// Writes the next item.
    ///
    /// # Panics
    /// If every slot of the burst is written.
    #[inline]
    pub fn push(&mut self, item: T) {
        assert!(self.written < self.end, "the burst has no slot left");
        // SAFETY: the slots `next..end` are this view's by the deal or by its claim, and lie below the limit; they
        // were cleared when they were reserved.
        unsafe { self.view.generation.serving(self.written).put(self.written, item) };
        self.written += 1;
    }

    /// Writes items until the burst is full or there are no more; returns how many. If the iterator panics,
    /// the items written so far are dropped with the burst.
    pub fn fill(&mut self, items: impl IntoIterator<Item = T>) -> usize {
        let before = self.written;
        let mut items = items.into_iter();
        while self.written < self.end {
            let Some(item) = items.next() else { break };
            self.push(item);
        }
        (self.written - before) as usize
    }

    /// Hands the items written so far over and gives the rest of the slots back.
    #[inline]
    pub fn commit(mut self) {
        self.commit_to(self.written);
    }

    /// Hands the items below `index` over and keeps the rest. Does nothing if they were handed over already.
    ///
    /// # Panics
    /// If an item below `index` has not been written.
    #[inline]
    pub fn commit_to(&mut self, index: u64) {
        assert!(index <= self.written, "cannot commit up to {index}: written up to {}", self.written);
        if index > self.view.place.next {
            self.view.publish(index);
        }
    }
}

#[cfg(not(loom))]
impl<T: Copy + Default, W: WriteDeal> ViewSlots<'_, T, W> {
    /// The slots as plain memory to write to, piece by piece: one slice, two where the window wraps, one more
    /// for each border of a record that has grown. All of them count as written afterwards.
    ///
    /// They hold old items or `T::default()`.
    #[inline]
    pub fn slices_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        while self.written < self.end {
            let generation = self.view.generation.serving(self.written);
            if self.written < generation.fresh() {
                // SAFETY: as in `push`.
                unsafe { generation.put(self.written, T::default()) };
            }
            self.written += 1;
        }
        let view = &*self.view;
        let (mut from, end) = (view.place.next, self.end);
        std::iter::from_fn(move || {
            if from >= end {
                return None;
            }
            let (slots, len) = view.generation.serving(from).run(from, end);
            from += len as u64;
            // SAFETY: the slots are this view's (see `push`) and no two pieces overlap. Each holds a value: an
            // old one, or what was written above or by `push`. The slices borrow the burst mutably, so they
            // end before it is committed.
            Some(unsafe { std::slice::from_raw_parts_mut(slots, len) })
        })
    }
}

impl<T, W: WriteDeal> Drop for ViewSlots<'_, T, W> {
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            let mut leftovers = Leftovers::default();
            for index in self.view.place.next..self.written {
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
