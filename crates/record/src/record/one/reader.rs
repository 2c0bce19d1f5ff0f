//! The reading side: receive, read or take, release.

use super::{Shared, bell::Listener};
use crate::sync::{Arc, Ordering};
use std::{fmt, marker::PhantomData, mem::ManuallyDrop, ops::Range};

/// The reading end of a [one-to-one record](super::one_to_one()). Dropping it closes the record for its writer.
pub struct Reader<T> {
    shared: Arc<Shared<T>>,
    /// The first item not taken: from here on slots hold items.
    next: u64,
    /// What `shared.released` holds: at most `next`, and less only within a burst (or after one was forgotten).
    released: u64,
    /// Items below this index were committed when last looked.
    committed: u64,
    /// The most items of one burst, at least 1.
    horizon: u64,
    listener: Listener,
    /// A shared reader shows its items by reference, so it is `Sync` only where they are.
    shows: PhantomData<T>,
}

impl<T> Reader<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, first: u64, horizon: u64) -> Self {
        Self {
            shared,
            next: first,
            released: first,
            committed: first,
            horizon,
            listener: Listener::default(),
            shows: PhantomData,
        }
    }

    /// The index of the next item to be read: how many were released so far.
    #[inline]
    pub fn index(&self) -> u64 {
        self.next
    }

    /// The most items that one burst may have.
    #[inline]
    pub fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// Begins to fetch the next `distance` items, as far as they were committed, and returns at once: the first
    /// phase of a split-phase receive (Erbium, section 3, `receive`); [`receive`](Self::receive) is the second.
    ///
    /// Worth its price when there is other work to do before the items are read, and they are many cache
    /// lines. Returns how many items are being fetched.
    #[inline]
    pub fn ask(&mut self, distance: usize) -> usize {
        let ready = self.available(self.next.saturating_add(distance as u64)).min(distance as u64);
        self.shared.store.prefetch(self.next, ready);
        ready as usize
    }

    /// Waits for the next `n` items (Erbium, section 3, `update`).
    ///
    /// The burst is shorter only at the end of the stream: first what is left, then nothing. Items that were
    /// not released are received again by the next call, so that windows may overlap.
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon.
    #[inline]
    pub fn receive(&mut self, n: usize) -> Items<'_, T> {
        let mut end = self.end_of(n);
        if end > self.committed {
            end = self.wait_for_items(end);
        }
        Items { end, reader: self }
    }

    /// The next `n` items if that needs no waiting: if they are there, or the stream has ended.
    ///
    /// # Panics
    /// As [`receive`](Self::receive).
    #[inline]
    pub fn try_receive(&mut self, n: usize) -> Option<Items<'_, T>> {
        let mut end = self.end_of(n);
        if end > self.committed {
            self.committed = look_for_items(&self.shared, end)?;
            end = end.min(self.committed);
        }
        Some(Items { end, reader: self })
    }

    /// Releases the items before `range`, unread, and waits for those in it (Erbium, section 3,
    /// `receive_range`): for subsampling, and for readers that share the work by index.
    ///
    /// # Panics
    /// If the range is empty or longer than the horizon, or begins before [`index`](Self::index).
    ///
    /// # Examples
    /// ```
    /// let (mut writer, mut reader) = anabranch_record::one_to_one::<u32>(16, 16);
    /// let mut slots = writer.stall(16).unwrap();
    /// slots.fill(0..16);
    /// slots.commit();
    /// drop(writer);
    /// for index in (3..).step_by(5) {
    ///     let items = reader.receive_range(index..index + 1); // one in five
    ///     let Some(&item) = items.get(0) else { break };
    ///     assert_eq!(u64::from(item), index);
    ///     items.release();
    /// }
    /// ```
    pub fn receive_range(&mut self, range: Range<u64>) -> Items<'_, T> {
        assert!(range.start >= self.next, "items before {} were released", self.next);
        assert!(range.start < range.end, "an empty range");
        let len = range.end - range.start;
        while self.next < range.start {
            let skip = self.horizon.min(range.start - self.next) as usize;
            let items = self.receive(skip);
            if items.is_empty() {
                break;
            }
            items.release();
        }
        self.receive(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// How many items are there to read without waiting, `usize::MAX` at most; looks at the writer's index.
    #[inline]
    pub fn ready(&mut self) -> usize {
        usize::try_from(self.available(u64::MAX)).unwrap_or(usize::MAX)
    }

    #[inline]
    fn available(&mut self, end: u64) -> u64 {
        if end > self.committed {
            self.committed = self.shared.committed.load(Ordering::Acquire);
        }
        self.committed - self.next
    }

    #[inline]
    fn end_of(&self, n: usize) -> u64 {
        let n = n as u64;
        assert!(n > 0 && n <= self.horizon, "a burst has 1 to {} items, not {n}", self.horizon);
        self.next + n
    }

    #[cold]
    fn wait_for_items(&mut self, end: u64) -> u64 {
        let shared = &*self.shared;
        self.committed = self.listener.until(&shared.items, || look_for_items(shared, end));
        end.min(self.committed)
    }

    /// Gives the slots of the items taken so far back.
    #[inline]
    fn publish(&mut self) {
        if self.released < self.next {
            self.released = self.next;
            let order =
                if cfg!(mutant = "relaxed_give_back") { Ordering::Relaxed } else { Ordering::Release };
            self.shared.released.store(self.next, order);
            self.shared.room.ring();
        }
    }
}

/// The commit index, if it has reached `end` or will not rise any more.
fn look_for_items<T>(shared: &Shared<T>, end: u64) -> Option<u64> {
    let committed = shared.committed.load(Ordering::Acquire);
    if committed >= end {
        Some(committed)
    } else if shared.writer_gone.load(Ordering::Acquire) {
        if cfg!(mutant = "no_second_look_at_the_end") {
            return Some(committed);
        }
        // The flag was raised after the last commit, so this is final.
        Some(shared.committed.load(Ordering::Acquire))
    } else {
        None
    }
}

impl<T> Drop for Reader<T> {
    fn drop(&mut self) {
        self.publish();
        self.shared.reader_gone.store(true, Ordering::Release);
        self.shared.room.ring_out();
    }
}

impl<T> fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("index", &self.next)
            .field("horizon", &self.horizon)
            .finish_non_exhaustive()
    }
}

/// Items that a [`Reader`] has received: its own until released.
///
/// They are read in place or [taken](Self::pop) out. Dropping the burst releases the items that were taken; the
/// others are received again.
///
/// A released item cannot be read any more:
/// ```compile_fail,E0505
/// let (mut writer, mut reader) = anabranch_record::one_to_one::<String>(4, 4);
/// # drop(writer);
/// let items = reader.receive(4);
/// let first = items.get(0);
/// items.release();
/// println!("{first:?}"); // would read a released slot
/// ```
/// ```compile_fail,E0499
/// let (mut writer, mut reader) = anabranch_record::one_to_one::<String>(4, 4);
/// # drop(writer);
/// let items = reader.receive(2);
/// let more = reader.receive(2); // one burst at a time
/// println!("{items:?}");
/// ```
#[must_use = "items that are not released are received again"]
pub struct Items<'a, T> {
    /// Its `next` is the first item of the burst; it moves as items are taken.
    reader: &'a mut Reader<T>,
    /// The burst ends before this index, at most `reader.committed`.
    end: u64,
}

impl<T> Items<'_, T> {
    /// How many items are left in the burst.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.reader.next) as usize
    }

    /// True if no item is left; of a burst just received: the stream has ended.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.end == self.reader.next
    }

    /// The index of the first item left.
    #[inline]
    pub fn index(&self) -> u64 {
        self.reader.next
    }

    /// The item at `position` of those left.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&T> {
        if position >= self.len() {
            return None;
        }
        // SAFETY: `next <= index < end <= committed`: the slot holds an item, which is this reader's, and moves
        // only through `&mut self`, which the reference excludes.
        Some(unsafe { self.reader.shared.store.get(self.reader.next + position as u64) })
    }

    /// The items left, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map_while(|position| self.get(position))
    }

    /// The items left as plain memory: one slice, and a second one where the window wraps.
    #[cfg(not(loom))]
    #[inline]
    pub fn slices(&self) -> [&[T]; 2] {
        let store = &self.reader.shared.store;
        let (from, len) = (self.reader.next, self.end - self.reader.next);
        let (first, first_len) = store.run(from, len);
        let (second, second_len) = store.run(from + first_len as u64, len - first_len as u64);
        // SAFETY: as in `get`, for all slots `next..end`.
        unsafe {
            [std::slice::from_raw_parts(first, first_len), std::slice::from_raw_parts(second, second_len)]
        }
    }

    /// Takes the first item left.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let index = self.reader.next;
        // Counted in the reader, before the item is out, so that not even a forgotten burst gives it twice.
        self.reader.next += 1;
        // SAFETY: `index < end <= committed`, and no item below `next` is touched again.
        Some(unsafe { self.reader.shared.store.take(index) })
    }

    /// Takes the items left, one by one; those not asked for stay.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.pop())
    }

    /// Drops the items left and gives all slots of the burst back.
    #[inline]
    pub fn release(self) {
        // `release_to` leaves the destructor nothing to do; if an item's drop panics, the next burst publishes.
        let mut this = ManuallyDrop::new(self);
        let end = this.end;
        this.release_to(end);
    }

    /// Drops the items below `index` and gives their slots back (Erbium, section 3, `release`). Does nothing if
    /// that was done already.
    ///
    /// # Panics
    /// If `index` lies beyond the burst.
    #[inline]
    pub fn release_to(&mut self, index: u64) {
        assert!(index <= self.end, "cannot release up to {index}: received up to {}", self.end);
        if std::mem::needs_drop::<T>() {
            while self.reader.next < index {
                drop(self.pop());
            }
        } else if index > self.reader.next {
            self.reader.next = index;
        }
        self.reader.publish();
    }
}

impl<T> Drop for Items<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.reader.publish();
    }
}

impl<T> fmt::Debug for Items<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("index", &self.index())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
