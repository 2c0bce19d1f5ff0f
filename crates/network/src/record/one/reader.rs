//! The reading side: receive, read or take, release.

use super::{OneToOne, notifier::Listener};
use crate::record::burst::{Items, OwningSide, ReadSide};
use crate::record::{sleep::Sleep, store::Store};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, Ordering};
use std::{fmt, marker::PhantomData, ops::Range};

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
    pub fn receive(&mut self, n: usize) -> Items<'_, Self> {
        let end = self.await_items(n, true).unwrap_or(self.next);
        Items::new(self, end)
    }

    /// Returns the next `n` items if they are committed, or if the stream has ended. It returns `None` if it
    /// would have to wait.
    ///
    /// # Panics
    /// If `n` is 0 or above the horizon.
    #[inline]
    pub fn try_receive(&mut self, n: usize) -> Option<Items<'_, Self>> {
        let end = self.await_items(n, false)?;
        Some(Items::new(self, end))
    }

    /// The end of the next burst, or `None` if the reader would have to wait and `wait` is false.
    #[inline]
    pub(in crate::record) fn await_items(&mut self, n: usize, wait: bool) -> Option<u64> {
        let end = self.end_of(n);
        if end <= self.committed {
            return Some(end);
        }
        if wait {
            return Some(self.wait_for_items(end));
        }
        self.committed = look_for_items(&self.shared, end)?;
        Some(end.min(self.committed))
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
    pub fn receive_range(&mut self, range: Range<u64>) -> Items<'_, Self> {
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
}

// SAFETY: `released <= next`, and the slots from there up to `committed` hold items that belong to the reader alone.
unsafe impl<T> ReadSide for Reader<T> {
    type Item = T;

    #[inline]
    fn store(&self, _: u64) -> &Store<T> {
        &self.shared.store
    }

    #[inline]
    fn owns(&self) -> bool {
        true
    }

    #[inline]
    fn open(&mut self) -> u64 {
        self.next
    }

    #[inline]
    fn advance(&mut self, index: u64) {
        self.next = index;
    }

    #[inline]
    fn publish(&mut self) {
        if self.released < self.next {
            self.released = self.next;
            let order = if RELAXED_GIVE_BACK.is_on() { Ordering::Relaxed } else { Ordering::Release };
            self.shared.released.store(self.next, order);
            self.shared.room.notify();
        }
    }

    #[inline]
    fn finish(&self) {}
}

impl<T> OwningSide for Reader<T> {}

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
