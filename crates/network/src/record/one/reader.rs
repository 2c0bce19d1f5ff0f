//! The reading side: receive, read or take, release.

use super::{OneToOne, notifier::Listener};
use crate::record::sleep::Sleep;
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, Ordering};
use std::{fmt, marker::PhantomData, mem::ManuallyDrop, ops::Range};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const RELAXED_GIVE_BACK: Mutant = Mutant("relaxed_give_back");
const NO_SECOND_LOOK_AT_THE_END: Mutant = Mutant("no_second_look_at_the_end");

/// The reading end of a [one-to-one record](super::one_to_one()). Dropping it closes the record for its
/// writer.
pub struct Reader<T> {
    pub(super) shared: Arc<OneToOne<T>>,
    /// The first item that was not taken. Slots from here on, up to `committed`, hold items.
    next: u64,
    /// The value of `shared.released`. It is at most `next`, and lower only within a burst, or after a burst
    /// was forgotten.
    released: u64,
    /// Every item below this index was committed when the reader last looked.
    pub(super) committed: u64,
    /// The most items in one burst, at least 1.
    horizon: u64,
    listener: Listener,
    /// A shared reader shows its items by reference, so it is `Sync` only if `T` is.
    shows: PhantomData<T>,
}

impl<T> Reader<T> {
    pub(super) fn new(shared: Arc<OneToOne<T>>, first: u64, horizon: u64) -> Self {
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

    /// The index of the next item to be read, which is also the number of items that were taken or released
    /// so far.
    #[inline]
    pub fn index(&self) -> u64 {
        self.next
    }

    /// The most items that one burst may have.
    #[inline]
    pub fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// Begins to fetch the next `distance` items into the cache, as far as they are committed, and returns at
    /// once. It returns how many items are being fetched.
    ///
    /// This is the first phase of a split-phase receive (Erbium, section 3, `receive`), and
    /// [`receive`](Self::receive) is the second. It pays if the items are many cache lines and there is other
    /// work to do before they are read.
    #[inline]
    pub fn ask(&mut self, distance: usize) -> usize {
        let ready = self.available(self.next.saturating_add(distance as u64)).min(distance as u64);
        self.shared.store.prefetch(self.next, ready);
        ready as usize
    }

    /// Waits for the next `n` items (Erbium, section 3, `update`).
    ///
    /// The burst has fewer than `n` items only at the end of the stream: first those that are left, and then
    /// none. Items that were not released are received again by the next call, so windows may overlap.
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

    /// Returns the next `n` items if they are committed, or if the stream has ended. It returns `None` if it
    /// would have to wait.
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon.
    #[inline]
    pub fn try_receive(&mut self, n: usize) -> Option<Items<'_, T>> {
        let mut end = self.end_of(n);
        if end > self.committed {
            self.committed = look_for_items(&self.shared, end)?;
            end = end.min(self.committed);
        }
        Some(Items { end, reader: self })
    }

    /// Releases the items before `range` without reading them, and waits for the items in it (Erbium, section
    /// 3, `receive_range`). This serves subsampling, and readers that divide the work by index.
    ///
    /// # Panics
    /// If the range is empty, longer than the horizon, or begins before [`index`](Self::index).
    ///
    /// # Examples
    /// ```
    /// let (mut writer, mut reader) = anabranch_network::record::one_to_one::<u32>(16, 16);
    /// let mut slots = writer.stall(16).unwrap();
    /// slots.fill(0..16);
    /// slots.commit();
    /// drop(writer);
    /// for index in (3..).step_by(5) {
    ///     let items = reader.receive_range(index..index + 1); // one item in five
    ///     let Some(&item) = items.get(0) else { break };
    ///     assert_eq!(u64::from(item), index);
    ///     items.release();
    /// }
    /// ```
    pub fn receive_range(&mut self, range: Range<u64>) -> Items<'_, T> {
        assert!(range.start >= self.next, "the items before index {} are released already", self.next);
        assert!(range.start < range.end, "a range must have at least 1 index");
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

    /// How many items can be read without waiting, at most `usize::MAX`. It looks at the writer's index.
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
    pub(super) fn end_of(&self, n: usize) -> u64 {
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

    /// The new commit index, or `None` if `how` gives up.
    #[cold]
    pub(super) fn wait_for_items_by(&mut self, end: u64, how: &impl Sleep) -> Option<u64> {
        let shared = &*self.shared;
        self.listener.until_by(&shared.items, how, || look_for_items(shared, end))
    }

    /// Gives back the slots of the items that were taken so far.
    #[inline]
    fn publish(&mut self) {
        if self.released < self.next {
            self.released = self.next;
            let order = if RELAXED_GIVE_BACK.is_on() { Ordering::Relaxed } else { Ordering::Release };
            self.shared.released.store(self.next, order);
            self.shared.room.notify();
        }
    }
}

/// The commit index, if it has reached `end` or will not rise any more.
fn look_for_items<T>(shared: &OneToOne<T>, end: u64) -> Option<u64> {
    let committed = shared.committed.load(Ordering::Acquire);
    if committed >= end {
        Some(committed)
    } else if shared.writer_gone.load(Ordering::Acquire) {
        if NO_SECOND_LOOK_AT_THE_END.is_on() {
            return Some(committed);
        }
        // The flag was set after the last commit, so this value is final.
        Some(shared.committed.load(Ordering::Acquire))
    } else {
        None
    }
}

impl<T> Drop for Reader<T> {
    fn drop(&mut self) {
        self.publish();
        self.shared.reader_gone.store(true, Ordering::Release);
        self.shared.room.notify_last();
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

/// Items that a [`Reader`] has received. They belong to it until they are released.
///
/// Items are read in place or [taken](Self::pop) out. Dropping the burst releases the items that were taken.
/// The other items are received again.
///
/// A released item cannot be read any more, and only one burst can be open at a time:
/// ```compile_fail,E0505
/// let (mut writer, mut reader) = anabranch_network::record::one_to_one::<String>(4, 4);
/// # drop(writer);
/// let items = reader.receive(4);
/// let first = items.get(0);
/// items.release();
/// println!("{first:?}"); // would read a released slot
/// ```
/// ```compile_fail,E0499
/// let (mut writer, mut reader) = anabranch_network::record::one_to_one::<String>(4, 4);
/// # drop(writer);
/// let items = reader.receive(2);
/// let more = reader.receive(2); // the first burst is still in use
/// println!("{items:?}");
/// ```
#[must_use = "items that are not released will be received again"]
pub struct Items<'a, T> {
    /// Its `next` is the first item of the burst, and moves as items are taken.
    pub(super) reader: &'a mut Reader<T>,
    /// The burst ends before this index, which is at most `reader.committed`.
    pub(super) end: u64,
}

impl<T> Items<'_, T> {
    /// How many items the burst has left.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.reader.next) as usize
    }

    /// Whether no item is left. If a burst is empty when it is received, the stream has ended.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.end == self.reader.next
    }

    /// The index of the first item that is left.
    #[inline]
    pub fn index(&self) -> u64 {
        self.reader.next
    }

    /// The item at `position` among those that are left, counted from 0.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&T> {
        if position >= self.len() {
            return None;
        }
        // SAFETY: `next <= index < end <= committed`, so the slot holds an item that belongs to this reader.
        // The item moves only through `&mut self`, which the reference rules out.
        Some(unsafe { self.reader.shared.store.get(self.reader.next + position as u64) })
    }

    /// The items that are left, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map_while(|position| self.get(position))
    }

    /// The items that are left, as slices. The second slice is empty unless the window wraps around.
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

    /// Takes the first item that is left.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let index = self.reader.next;
        // The reader counts the item before it is moved out, so even a burst that was forgotten cannot give
        // it twice.
        self.reader.next += 1;
        // SAFETY: `index < end <= committed`, and no item below `next` is touched again.
        Some(unsafe { self.reader.shared.store.take(index) })
    }

    /// Takes the items that are left, one after another. Items that the iterator was not asked for stay in
    /// the burst.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.pop())
    }

    /// Drops the items that are left and gives back all slots of the burst.
    #[inline]
    pub fn release(self) {
        // `release_to` leaves the destructor nothing to do. If dropping an item panics, the next burst
        // publishes.
        let mut this = ManuallyDrop::new(self);
        let end = this.end;
        this.release_to(end);
    }

    /// Drops the items below `index` and gives back their slots (Erbium, section 3, `release`). It does
    /// nothing if they were released already.
    ///
    /// # Panics
    /// If `index` lies beyond the burst.
    #[inline]
    pub fn release_to(&mut self, index: u64) {
        assert!(
            index <= self.end,
            "cannot release the items below {index}: only those below {} were received",
            self.end
        );
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
