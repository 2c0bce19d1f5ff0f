//! The writing side: stall, fill, commit.

use super::{OneToOne, notifier::Listener};
use crate::record::{Closed, INDEX_LIMIT, TryStallError, sleep::Sleep};
use anabranch_record::leftovers::Leftovers;
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, Ordering};
use std::fmt;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const RELAXED_PUBLISH: Mutant = Mutant("relaxed_publish");

/// The writing end of a [one-to-one record](super::one_to_one()). Dropping it ends the stream.
pub struct Writer<T> {
    pub(super) shared: Arc<OneToOne<T>>,
    /// The first index that is not committed, which is the value of `shared.committed`.
    pub(super) next: u64,
    /// Every slot below this index was free when the writer last looked. At most `released + bound` and
    /// [`INDEX_LIMIT`].
    pub(super) limit: u64,
    /// The most slots that one stall may reserve, at least 1.
    horizon: u64,
    /// The most items in the record: the sum of both horizons.
    bound: u64,
    /// The slots of indices below this one have never held an item. Only slices need it, and loom has no
    /// slices.
    #[cfg_attr(loom, expect(dead_code))]
    fresh: u64,
    listener: Listener,
}

impl<T> Writer<T> {
    pub(super) fn new(shared: Arc<OneToOne<T>>, next: u64, limit: u64, horizon: u64, bound: u64) -> Self {
        let fresh = next.saturating_add(shared.store.capacity());
        Self { shared, next, limit, horizon, bound, fresh, listener: Listener::default() }
    }

    /// The index of the next item to be committed, which is also the number of items that were committed so
    /// far.
    #[inline]
    pub fn index(&self) -> u64 {
        self.next
    }

    /// The most slots that one stall may reserve.
    #[inline]
    pub fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// Whether the reader was dropped. If it was, nothing that is written will be read.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.shared.reader_gone.load(Ordering::Acquire)
    }

    /// Reserves the next `n` slots. It waits while they would pass the horizon (Erbium, section 3, `stall`).
    ///
    /// Slots that were reserved but not committed are reserved again by the next call.
    ///
    /// # Errors
    /// [`Closed`] once the reader was dropped.
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon. Also at the index limit of 2^63 items, which takes 292 years at one
    /// item a nanosecond: indices never wrap.
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

    /// Reserves the next `n` slots if it need not wait for them.
    ///
    /// # Errors
    /// [`TryStallError::Full`] while the slots would pass the horizon, and [`TryStallError::Closed`] once the
    /// reader was dropped.
    ///
    /// # Panics
    /// The same as for [`stall`](Self::stall).
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
    pub(super) fn end_of(&self, n: usize) -> u64 {
        let n = n as u64;
        assert!(n > 0 && n <= self.horizon, "a burst has 1 to {} slots, not {n}", self.horizon);
        self.next + n
    }

    /// Loads the reader's index again. Returns whether the slots below `end` are free.
    fn look_for_room(&mut self, end: u64) -> bool {
        assert!(end <= INDEX_LIMIT, "the index limit of 2^63 items is reached");
        self.limit = INDEX_LIMIT.min(self.shared.released.load(Ordering::Acquire) + self.bound);
        end <= self.limit
    }

    #[cold]
    fn wait_for_room(&mut self, end: u64) -> Result<(), Closed> {
        let (shared, bound) = (&*self.shared, self.bound);
        self.limit = self.listener.until(&shared.room, || look_for_room(shared, end, bound))?;
        Ok(())
    }

    /// The new limit, or `None` if `how` gives up.
    #[cold]
    pub(super) fn wait_for_room_by(&mut self, end: u64, how: &impl Sleep) -> Option<Result<u64, Closed>> {
        let (shared, bound) = (&*self.shared, self.bound);
        self.listener.until_by(&shared.room, how, || look_for_room(shared, end, bound))
    }

    /// Hands over the items below `index`.
    #[inline]
    fn publish(&mut self, index: u64) {
        self.next = index;
        let order = if RELAXED_PUBLISH.is_on() { Ordering::Relaxed } else { Ordering::Release };
        self.shared.committed.store(index, order);
        self.shared.items.notify();
    }
}

/// The limit if the slots below `end` are free, and an error if the reader has gone.
fn look_for_room<T>(shared: &OneToOne<T>, end: u64, bound: u64) -> Option<Result<u64, Closed>> {
    assert!(end <= INDEX_LIMIT, "the index limit of 2^63 items is reached");
    if shared.reader_gone.load(Ordering::Acquire) {
        return Some(Err(Closed));
    }
    let released = shared.released.load(Ordering::Acquire);
    (released >= end - bound).then(|| Ok(INDEX_LIMIT.min(released + bound)))
}

impl<T> Drop for Writer<T> {
    fn drop(&mut self) {
        self.shared.writer_gone.store(true, Ordering::Release);
        self.shared.items.notify_last();
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

/// Slots that a [`Writer`] has reserved. They are private to it until they are committed.
///
/// Items are written by [`push`](Self::push) or [`fill`](Self::fill), or, if `T` is `Copy`, through
/// [`slices_mut`](Self::slices_mut). Dropping the burst drops the items that were written but not committed.
/// The next stall reserves their slots again.
///
/// A committed burst cannot be written any more, and a reserved slot cannot be read:
/// ```compile_fail,E0382
/// let (mut writer, _reader) = anabranch_network::record::one_to_one::<String>(4, 4);
/// let mut slots = writer.stall(1).unwrap();
/// slots.push(String::new());
/// slots.commit();
/// slots.push(String::new()); // moved by `commit`
/// ```
/// ```compile_fail,E0502
/// let (mut writer, _reader) = anabranch_network::record::one_to_one::<u8>(4, 4);
/// let mut slots = writer.stall(4).unwrap();
/// let [first, _] = slots.slices_mut();
/// slots.commit_to(1); // `first` still borrows the slot
/// first[0] = 1;
/// ```
/// ```compile_fail,E0608
/// let (mut writer, _reader) = anabranch_network::record::one_to_one::<String>(4, 4);
/// let slots = writer.stall(4).unwrap();
/// println!("{}", slots[0]); // a reserved slot cannot be read
/// ```
#[must_use = "slots that are not committed will be reserved again"]
pub struct Slots<'a, T> {
    /// Its `next` is the first slot of the burst, and moves as items are committed.
    writer: &'a mut Writer<T>,
    /// The slots from `writer.next` up to this index hold items that are not handed over yet.
    written: u64,
    /// The burst ends before this index, which is at most `writer.limit`.
    end: u64,
}

impl<T> Slots<'_, T> {
    /// How many slots of the burst are not committed yet.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.writer.next) as usize
    }

    /// Whether every slot of the burst was committed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.end == self.writer.next
    }

    /// The index of the first slot that is not committed.
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
        assert!(self.written < self.end, "every slot of the burst is written: commit it and stall again");
        // SAFETY: `next <= written < end <= limit <= released + bound`, so the slot belongs to this writer.
        // It holds no item, since `written` counts the items.
        unsafe { self.writer.shared.store.put(self.written, item) };
        self.written += 1;
    }

    /// A mutable reference to the item at `position` among those that are written and not committed.
    #[inline]
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        let index = self.writer.next.checked_add(position as u64)?;
        if index >= self.written {
            return None;
        }
        // SAFETY: the slots `next..written` hold items that only this writer reaches, and the reference
        // borrows the burst mutably, so no other one exists and the item is not committed while it lives.
        Some(unsafe { self.writer.shared.store.get_mut(index) })
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

    /// Hands over the items below `index` and keeps the other slots (Erbium, section 3, `commit`). It does
    /// nothing if they were handed over already.
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
        if index > self.writer.next {
            self.writer.publish(index);
        }
    }
}

#[cfg(not(loom))]
impl<T: Copy + Default> Slots<'_, T> {
    /// The uncommitted slots as slices to write to. All of them count as written afterwards.
    ///
    /// The second slice is empty unless the window wraps around. It is always empty if every burst has the
    /// same power of two of slots, and this number divides the capacity: the sum of both horizons, rounded up
    /// to a power of two. The slots hold old items or `T::default()`.
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
        // SAFETY: the slots `next..end` belong to this writer (see `push`), and the two runs are disjoint
        // parts of them. Each slot holds a value. Below `fresh` it is what `push` or `fill_fresh` wrote. From
        // `fresh` on the index reuses a slot that was committed before, and a `Copy` item leaves its bits
        // behind. The slices borrow the burst, so they end before it is committed.
        unsafe {
            [
                std::slice::from_raw_parts_mut(first, first_len),
                std::slice::from_raw_parts_mut(second, second_len),
            ]
        }
    }

    /// Gives a value to the slots that have never held one. This happens only in the first lap around the
    /// ring.
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
                // SAFETY: the slots `next..written` hold items that were not handed over. Each is taken once,
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
