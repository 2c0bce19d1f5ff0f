//! The reading view: receive, read or take, release, on the indices that are dealt to it.

use super::{
    core::{Core, Place, Which},
    deal::{All, Deal, Owning},
    generation::Generation,
    side::IDLE,
};
use crate::{
    record::wait::{Patience, wake_all},
    sync::{Arc, Ordering},
};
use std::{fmt, marker::PhantomData, ops::Range};

/// A registered reader of a [`Record`](crate::Record).
pub struct ReadView<T, R: Deal> {
    core: Arc<Core<T>>,
    deal: R,
    /// The id, and the index of the seat that nobody else writes to (but see [`Place::cell`]).
    seat: usize,
    /// `next` is the first index of its own that it has not taken or released.
    place: Place,
    /// What the cell says: at most `place.next`, and less only within a burst (or after one was forgotten).
    released: u64,
    /// Serves `place.next`, or an index before it.
    generation: Arc<Generation<T>>,
    /// Items below were committed, when last looked.
    committed: u64,
    horizon: u64,
    patience: Patience,
    /// Whether dropping it ends its part of the stream.
    connected: bool,
    /// A shared view shows its items by reference, so it is `Sync` only where they are.
    shows: PhantomData<T>,
}

impl<T, R: Deal> ReadView<T, R> {
    pub(super) fn new(
        core: Arc<Core<T>>,
        deal: R,
        seat: usize,
        place: Place,
        generation: Arc<Generation<T>>,
        horizon: u64,
    ) -> Self {
        Self {
            core,
            deal,
            seat,
            place,
            released: place.next,
            generation,
            committed: 0,
            horizon,
            patience: Patience::default(),
            connected: true,
            shows: PhantomData,
        }
    }

    /// The index of the next item that it will receive; with tickets, of the last claim.
    pub fn index(&self) -> u64 {
        self.place.next
    }

    /// The most items that one burst may have.
    pub fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// Begins to fetch the next `distance` items, as far as they were committed, and returns at once: the first
    /// phase of a split-phase receive. Returns how many items are being fetched; with
    /// [`Tickets`](crate::Tickets) only items that it has claimed are worth fetching.
    pub fn ask(&mut self, distance: usize) -> usize {
        let wanted = self.place.next.saturating_add(distance as u64);
        let end = if R::TICKETS { self.place.end } else { self.deal.run_end(self.seat, self.place.next) };
        if wanted > self.committed {
            self.committed = self.committed.max(self.core.writers.low());
        }
        let ready = wanted.min(end).min(self.committed).saturating_sub(self.place.next);
        if ready > 0 {
            self.generation.serving(self.place.next).prefetch(self.place.next, ready);
        }
        ready as usize
    }

    /// Waits for the next `n` items.
    ///
    /// The burst is shorter at the end of the stream (first what is left, then nothing), at the end of a
    /// [`Dealt`](crate::Dealt) range, and with [`Tickets`](crate::Tickets) where a claim was released in part or
    /// is taken over: what is left of a claim comes first. It is empty only at the end of the stream. Items
    /// that were not released are received again by the next call.
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon.
    pub fn receive(&mut self, n: usize) -> ViewItems<'_, T, R> {
        let end = self.await_items(n, true).unwrap_or(self.place.next);
        self.items(end)
    }

    /// The next `n` items if that needs no waiting: if they are there, or the stream has ended.
    ///
    /// # Panics
    /// As [`receive`](Self::receive).
    pub fn try_receive(&mut self, n: usize) -> Option<ViewItems<'_, T, R>> {
        let end = self.await_items(n, false)?;
        Some(self.items(end))
    }

    /// Makes the horizon wider; the record grows if it must.
    ///
    /// # Panics
    /// If `horizon` is above 2^32.
    pub fn widen(&mut self, horizon: usize) {
        self.horizon = self.horizon.max(super::checked(horizon));
        self.core.widen(Which::Readers, self.horizon);
    }

    /// Disconnects, leaving the id to a successor that goes on where this view stopped: with the first item that
    /// was not released. Until it has registered, the items are kept. If no handle of the record is left,
    /// nobody can succeed, and this view ends.
    pub fn leave(mut self) {
        self.publish();
        self.connected = false;
        self.core.disconnect(Which::Readers, self.seat, self.place, true);
    }

    fn items(&mut self, end: u64) -> ViewItems<'_, T, R> {
        while let Some(newer) = self.generation.after(self.place.next) {
            self.generation = Arc::clone(newer);
        }
        ViewItems { end, view: self }
    }

    /// The end of the next burst; none if it has to be waited for.
    fn await_items(&mut self, n: usize, wait: bool) -> Option<u64> {
        let n = n as u64;
        assert!(n > 0 && n <= self.horizon, "a burst has 1 to {} items, not {n}", self.horizon);
        // A forgotten burst may have left the view at the end of its range.
        self.publish();
        if R::TICKETS {
            if self.place.next == self.place.end {
                self.claim(n, wait)?;
            }
            return Some(self.place.end.min(self.place.next + n));
        }
        let end = self.deal.run_end(self.seat, self.place.next).min(self.place.next + n);
        if end > self.committed {
            let core = &*self.core;
            let look = || {
                let (committed, is_final) = core.writers.low_and_final();
                (committed >= end || is_final).then_some(committed)
            };
            self.committed = match (look(), wait) {
                (Some(committed), _) => committed,
                (None, false) => return None,
                (None, true) => self.patience.until(&core.items, look),
            };
        }
        Some(end.min(self.committed).max(self.place.next))
    }

    /// Claims the next `n` items (fewer at the end of the stream), or takes a claim over. At the end it leaves an
    /// empty claim; none if the items have to be waited for.
    fn claim(&mut self, n: u64, wait: bool) -> Option<()> {
        let core = &*self.core;
        let side = &core.readers;
        // What can be claimed, or nothing once the stream has ended; none to wait.
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
            if let Some((place, generation)) = core.adopt(Which::Readers) {
                self.place = place;
                self.generation = generation;
                self.released = place.next;
                return Some(());
            }
            let (from, to, committed) = match (look(self.committed), wait) {
                (Some(found), _) => found,
                (None, false) => return None,
                (None, true) => self.patience.until(&core.items, || {
                    let left = side.left.load(Ordering::Acquire) > 0;
                    // A claim to take over: an impossible one makes the loop go round.
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
            if side.claim(self.seat, from, to) {
                self.place = Place { next: from, end: to, cell: self.seat };
                self.released = from;
                return Some(());
            }
            #[cfg(not(mutant = "no_wake_after_a_lost_read_claim"))]
            core.wake_both();
        }
    }

    /// Gives the slots of the items taken so far back.
    #[inline]
    fn publish(&mut self) {
        if self.released == self.place.next {
            return;
        }
        let at = if !R::TICKETS {
            self.place.next = self.deal.own(self.seat, self.place.next);
            self.place.next
        } else if self.place.next == self.place.end {
            IDLE
        } else {
            self.place.next
        };
        self.released = self.place.next;
        let order = if cfg!(mutant = "relaxed_read_cell") { Ordering::Relaxed } else { Ordering::Release };
        self.core.readers.seats[self.place.cell].at.store(at, order);
        wake_all(&self.core.room);
    }
}

impl<T> ReadView<T, All> {
    /// Releases the items before `range`, unread, and waits for those in it (Erbium, section 3,
    /// `receive_range`): for subsampling, and for readers that share the work by index.
    ///
    /// # Panics
    /// If the range is empty or longer than the horizon, or begins before [`index`](Self::index).
    pub fn receive_range(&mut self, range: Range<u64>) -> ViewItems<'_, T, All> {
        assert!(range.start >= self.place.next, "items before {} were released", self.place.next);
        assert!(range.start < range.end, "an empty range");
        // The release index may pass the commit index: the window's floor takes the lower of the two.
        self.place.next = range.start;
        self.publish();
        self.receive(usize::try_from(range.end - range.start).unwrap_or(usize::MAX))
    }
}

impl<T, R: Deal> Drop for ReadView<T, R> {
    fn drop(&mut self) {
        if self.connected {
            self.publish();
            self.core.disconnect(Which::Readers, self.seat, self.place, false);
        }
    }
}

impl<T, R: Deal> fmt::Debug for ReadView<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadView")
            .field("id", &self.seat)
            .field("index", &self.index())
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}

/// Items that a [`ReadView`] has received, until released. As [`Items`](crate::Items); where every reader sees
/// [`All`], items cannot be taken.
///
/// ```compile_fail,E0599
/// let record = anabranch_record::Record::<String>::broadcast(2);
/// let mut reader = record.reader(0, 4).unwrap();
/// let item = reader.receive(1).pop(); // the other reader wants it too
/// ```
/// ```compile_fail,E0505
/// let record = anabranch_record::Record::<String>::broadcast(1);
/// let mut reader = record.reader(0, 4).unwrap();
/// let items = reader.receive(1);
/// let first = items.get(0);
/// items.release();
/// println!("{first:?}"); // would read a released slot
/// ```
#[must_use = "items that are not released are received again"]
pub struct ViewItems<'a, T, R: Deal> {
    /// Its `place.next` is the first item of the burst, until all are released.
    view: &'a mut ReadView<T, R>,
    /// The burst ends before this index.
    end: u64,
}

impl<T, R: Deal> ViewItems<'_, T, R> {
    /// How many items are left in the burst.
    #[inline]
    pub fn len(&self) -> usize {
        // After the last release of a dealt range the view stands at its next range.
        self.end.saturating_sub(self.view.place.next) as usize
    }

    /// True if no item is left; of a burst just received: the stream has ended.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the first item left.
    pub fn index(&self) -> u64 {
        self.view.place.next.min(self.end)
    }

    /// The item at `position` of those left.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&T> {
        if position >= self.len() {
            return None;
        }
        let index = self.view.place.next + position as u64;
        // SAFETY: `next..end` was committed, and is this view's to read until it releases it. An item moves only
        // through `&mut self` of its one owner, which the reference excludes.
        Some(unsafe { self.view.generation.serving(index).get(index) })
    }

    /// The items left, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map_while(|position| self.get(position))
    }

    /// The items left as plain memory, piece by piece: one slice, two where the window wraps, one more for each
    /// border of a record that has grown.
    #[cfg(not(loom))]
    #[inline]
    pub fn slices(&self) -> impl Iterator<Item = &[T]> {
        let (mut from, end) = (self.view.place.next, self.end);
        std::iter::from_fn(move || {
            if from >= end {
                return None;
            }
            let (slots, len) = self.view.generation.serving(from).run(from, end);
            from += len as u64;
            // SAFETY: as in `get`, for all of them.
            Some(unsafe { std::slice::from_raw_parts(slots, len) })
        })
    }

    /// Gives all slots of the burst back; items that have one reader are dropped.
    pub fn release(mut self) {
        self.release_to(self.end);
    }

    /// Gives the slots of the items below `index` back. Does nothing if that was done already.
    ///
    /// # Panics
    /// If `index` lies beyond the burst.
    pub fn release_to(&mut self, index: u64) {
        assert!(index <= self.end, "cannot release up to {index}: received up to {}", self.end);
        while self.view.place.next < index {
            let next = self.view.place.next;
            if !R::OWNS || !std::mem::needs_drop::<T>() {
                self.view.place.next = index;
            } else {
                self.view.place.next += 1;
                // SAFETY: this view is the one owner of the item, and will not come back to it.
                unsafe { self.view.generation.serving(next).clear(next) };
            }
        }
        self.view.publish();
    }
}

impl<T, R: Owning> ViewItems<'_, T, R> {
    /// Takes the first item left.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let index = self.view.place.next;
        // Counted in the view, before the item is out, so that not even a forgotten burst gives it twice.
        self.view.place.next += 1;
        // SAFETY: the item was committed, this view is its one owner, and will not come back to it.
        Some(unsafe { self.view.generation.serving(index).take(index) })
    }

    /// Takes the items left, one by one; those not asked for stay.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.pop())
    }
}

impl<T, R: Deal> Drop for ViewItems<'_, T, R> {
    fn drop(&mut self) {
        self.view.publish();
    }
}

impl<T, R: Deal> fmt::Debug for ViewItems<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewItems")
            .field("index", &self.index())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
