//! The writing side: stall, fill, commit.

use super::{Shared, bell::Listener};
use crate::leftovers::Leftovers;
use crate::{
    record::{Closed, LAST, TryStallError},
    sync::{Arc, Ordering},
};
use std::fmt;

/// The writing end of a [one-to-one record](super::one_to_one()). Dropping it ends the stream.
pub struct Writer<T> {
    shared: Arc<Shared<T>>,
    /// The first uncommitted index: what `shared.committed` holds.
    next: u64,
    /// Slots below this index were free when last looked; never above `released + bound` nor [`LAST`].
    limit: u64,
    /// The most slots of one stall, at least 1.
    horizon: u64,
    /// The most items in the record: both horizons.
    bound: u64,
    /// Slots of indices below this one have never held an item. Slices ask, which loom has none of.
    #[cfg_attr(loom, expect(dead_code))]
    fresh: u64,
    listener: Listener,
}

impl<T> Writer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, next: u64, limit: u64, horizon: u64, bound: u64) -> Self {
        let fresh = next.saturating_add(shared.store.capacity());
        Self { shared, next, limit, horizon, bound, fresh, listener: Listener::default() }
    }

    /// The index of the next item to be committed: how many were committed so far.
    #[inline]
    pub fn index(&self) -> u64 {
        self.next
    }

    /// The most slots that one stall may reserve.
    #[inline]
    pub fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// True once the reader was dropped: nothing that is written will be read.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.shared.reader_gone.load(Ordering::Acquire)
    }

    /// Reserves the next `n` slots, waiting while they would pass the horizon (Erbium, section 3, `stall`).
    ///
    /// Slots that were reserved but not committed are reserved again by the next call.
    ///
    /// # Errors
    /// [`Closed`] once the reader was dropped.
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon, or at the index limit of 2^63 items (292 years at one a nanosecond):
    /// indices never wrap.
    #[inline]
    pub fn stall(&mut self, n: usize) -> Result<Slots<'_, T>, Closed> {
        let end = self.end_of(n);
        if self.is_closed() {
            return Err(Closed);
        }
        if end > self.limit {
            self.wait_for_room(end)?;
        }
        Ok(Slots { written: self.next, end, writer: self })
    }

    /// Reserves the next `n` slots if that needs no waiting.
    ///
    /// # Errors
    /// [`TryStallError::Full`] while the slots would pass the horizon, [`TryStallError::Closed`] once the
    /// reader was dropped.
    ///
    /// # Panics
    /// As [`stall`](Self::stall).
    #[inline]
    pub fn try_stall(&mut self, n: usize) -> Result<Slots<'_, T>, TryStallError> {
        let end = self.end_of(n);
        if self.is_closed() {
            return Err(TryStallError::Closed);
        }
        if end > self.limit && !self.look_for_room(end) {
            return Err(TryStallError::Full);
        }
        Ok(Slots { written: self.next, end, writer: self })
    }

    #[inline]
    fn end_of(&self, n: usize) -> u64 {
        let n = n as u64;
        assert!(n > 0 && n <= self.horizon, "a burst has 1 to {} slots, not {n}", self.horizon);
        self.next + n
    }

    /// Reads the reader's index again: true if the slots below `end` are free.
    fn look_for_room(&mut self, end: u64) -> bool {
        assert!(end <= LAST, "the index limit of 2^63 items is reached");
        self.limit = LAST.min(self.shared.released.load(Ordering::Acquire) + self.bound);
        end <= self.limit
    }

    #[cold]
    fn wait_for_room(&mut self, end: u64) -> Result<(), Closed> {
        assert!(end <= LAST, "the index limit of 2^63 items is reached");
        let shared = &*self.shared;
        let least = end - self.bound;
        let released = self.listener.until(&shared.room, || {
            if shared.reader_gone.load(Ordering::Acquire) {
                return Some(Err(Closed));
            }
            let released = shared.released.load(Ordering::Acquire);
            (released >= least).then_some(Ok(released))
        })?;
        self.limit = LAST.min(released + self.bound);
        Ok(())
    }

    /// Hands the items below `index` over.
    #[inline]
    fn publish(&mut self, index: u64) {
        self.next = index;
        let order = if cfg!(mutant = "relaxed_publish") { Ordering::Relaxed } else { Ordering::Release };
        self.shared.committed.store(index, order);
        self.shared.items.ring();
    }
}

impl<T> Drop for Writer<T> {
    fn drop(&mut self) {
        self.shared.writer_gone.store(true, Ordering::Release);
        self.shared.items.ring_out();
    }
}

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("index", &self.next)
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}

/// Slots that a [`Writer`] has reserved: private until committed.
///
/// Items go in by [`push`](Self::push), or, for plain-old-data, through [`slices_mut`](Self::slices_mut).
/// Dropping the burst drops the items that were written but not committed; its slots are reserved again by
/// the next stall.
///
/// A committed burst cannot be written any more, and a reserved slot not read:
/// ```compile_fail,E0382
/// let (mut writer, _reader) = anabranch_record::one_to_one::<String>(4, 4);
/// let mut slots = writer.stall(1).unwrap();
/// slots.push(String::new());
/// slots.commit();
/// slots.push(String::new()); // moved by `commit`
/// ```
/// ```compile_fail,E0502
/// let (mut writer, _reader) = anabranch_record::one_to_one::<u8>(4, 4);
/// let mut slots = writer.stall(4).unwrap();
/// let [first, _] = slots.slices_mut();
/// slots.commit_to(1); // `first` still reaches the slot
/// first[0] = 1;
/// ```
/// ```compile_fail,E0608
/// let (mut writer, _reader) = anabranch_record::one_to_one::<String>(4, 4);
/// let slots = writer.stall(4).unwrap();
/// println!("{}", slots[0]); // reserved, not written
/// ```
#[must_use = "slots that are not committed are reserved again"]
pub struct Slots<'a, T> {
    /// Its `next` is the first slot of the burst; it moves as items are committed.
    writer: &'a mut Writer<T>,
    /// Slots from `writer.next` to here hold items that nobody else knows of.
    written: u64,
    /// The burst ends before this index, at most `writer.limit`.
    end: u64,
}

impl<T> Slots<'_, T> {
    /// How many slots the burst has left to commit.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.writer.next) as usize
    }

    /// True if every slot of the burst was committed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.end == self.writer.next
    }

    /// The index of the first uncommitted slot.
    #[inline]
    pub fn index(&self) -> u64 {
        self.writer.next
    }

    /// Writes the next item.
    ///
    /// # Panics
    /// If every slot of the burst is written.
    #[inline]
    pub fn push(&mut self, item: T) {
        assert!(self.written < self.end, "the burst has no slot left");
        // SAFETY: `next <= written < end <= limit <= released + bound`: the slot is this writer's, and holds no
        // item, since items are counted by `written`.
        unsafe { self.writer.shared.store.put(self.written, item) };
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

    /// Hands the items below `index` over and keeps the rest (Erbium, section 3, `commit`). Does nothing if they
    /// were handed over already.
    ///
    /// # Panics
    /// If an item below `index` has not been written.
    #[inline]
    pub fn commit_to(&mut self, index: u64) {
        assert!(index <= self.written, "cannot commit up to {index}: written up to {}", self.written);
        if index > self.writer.next {
            self.writer.publish(index);
        }
    }
}

#[cfg(not(loom))]
impl<T: Copy + Default> Slots<'_, T> {
    /// The slots as plain memory to write to: one slice, and a second one where the window wraps. All of them
    /// count as written afterwards.
    ///
    /// They hold old items or `T::default()`. With bursts of a power of two that divides both horizons' sum,
    /// rounded up to a power of two, the second slice is always empty.
    #[inline]
    pub fn slices_mut(&mut self) -> [&mut [T]; 2] {
        if self.written < self.writer.fresh {
            self.fill_fresh();
        }
        self.written = self.end;
        let store = &self.writer.shared.store;
        let (from, len) = (self.writer.next, self.end - self.writer.next);
        let (first, first_len) = store.run(from, len);
        let (second, second_len) = store.run(from + first_len as u64, len - first_len as u64);
        // SAFETY: the slots `next..end` are this writer's (see `push`) and the two runs are disjoint parts of
        // them. Each holds a value: an old one, since a `Copy` item leaves its bits behind and indices from
        // `fresh` on reuse a slot that was committed; or what `push` or `fill_fresh` wrote. The slices borrow
        // the burst, so they end before it is committed.
        unsafe {
            [
                std::slice::from_raw_parts_mut(first, first_len),
                std::slice::from_raw_parts_mut(second, second_len),
            ]
        }
    }

    /// Gives the slots that have never held a value one. Happens on the first lap only.
    #[cold]
    fn fill_fresh(&mut self) {
        while self.written < self.end {
            self.push(T::default());
        }
    }
}

impl<T> Drop for Slots<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            let mut leftovers = Leftovers::default();
            for index in self.writer.next..self.written {
                // SAFETY: the slots `next..written` hold items that were not handed over; each is taken once,
                // since the burst ends here.
                leftovers.drop(|| drop(unsafe { self.writer.shared.store.take(index) }));
            }
        }
    }
}

impl<T> fmt::Debug for Slots<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots")
            .field("index", &self.index())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
