//! Bursts: the slots that a writer has reserved, and the items that a reader has received. They are the same for every form of
//! a record.

use std::fmt;
use std::mem::{ManuallyDrop, needs_drop};
use std::ops::Index;

use super::store::Store;
use anabranch_record::leftovers::Leftovers;

/// A view of a record that writes.
///
/// # Safety
/// The slots from the index that [`open`](Self::open) returns up to the end of the burst belong to the view until they are
/// [published](Self::publish), and hold no items that must be dropped.
pub unsafe trait WriteSide {
    /// The content of the record.
    type Item;

    /// The place of the slot of `index`.
    fn store(&self, index: u64) -> &Store<Self::Item>;

    /// Prepares the slots up to `end`, which the view has reserved. Returns the first of them.
    fn open(&mut self, end: u64) -> u64;

    /// Hands over the items below `index`. Slots up to there were written.
    fn publish(&mut self, index: u64);
}

/// A view of a record that reads.
///
/// # Safety
/// The slots from the index that [`open`](Self::open) returns up to the end of the burst hold items that the view may read until it
/// has [advanced](Self::advance) past them and [published](Self::publish) that. If it [owns](Self::owns) them, nothing else
/// reaches them.
pub unsafe trait ReadSide {
    /// The content of the record.
    type Item;

    /// The place of the slot of `index`.
    fn store(&self, index: u64) -> &Store<Self::Item>;

    /// Whether each item has this reader alone.
    fn owns(&self) -> bool;

    /// Prepares to read the items that the view has received. Returns the index of the first.
    fn open(&mut self) -> u64;

    /// The items below `index` count as taken.
    fn advance(&mut self, index: u64);

    /// Gives back the slots of the items that were taken.
    fn publish(&mut self);

    /// Ends the burst.
    fn finish(&self);
}

/// A view that reads, and may take the items.
pub trait OwningSide: ReadSide {}

/// Slots that a writer has reserved. They are private to it until they are committed.
///
/// Items are written by [`push`](Self::push) or [`fill`](Self::fill), or, if they are `Copy`, through
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
/// ```compile_fail,E0499
/// let (mut writer, _reader) = anabranch_network::record::one_to_one::<u8>(4, 4);
/// let mut slots = writer.stall(4).unwrap();
/// let first = slots.slices_mut().next().unwrap();
/// slots.commit_to(1); // `first` still borrows the slot
/// first[0] = 1;
/// ```
/// ```compile_fail,E0608
/// let (mut writer, _reader) = anabranch_network::record::one_to_one::<String>(4, 4);
/// let slots = writer.stall(4).unwrap();
/// println!("{}", slots[0]); // a reserved slot cannot be read
/// ```
#[must_use = "slots that are not committed are reserved again"]
pub struct Slots<'a, V: WriteSide> {
    view: &'a mut V,
    /// The first slot of the burst that is not committed.
    next: u64,
    /// The slots from `next` up to this index hold items that are not handed over yet.
    written: u64,
    /// The burst ends before this index.
    end: u64,
}

impl<'a, V: WriteSide> Slots<'a, V> {
    /// The slots up to `end`, which `view` has reserved.
    #[inline]
    pub(super) fn new(view: &'a mut V, end: u64) -> Self {
        let next = view.open(end);
        Self { view, next, written: next, end }
    }
}

impl<V: WriteSide> Slots<'_, V> {
    /// How many slots of the burst are not committed yet.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.next) as usize
    }

    /// Whether every slot of the burst was committed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index in the stream of the first slot that is not committed.
    #[inline]
    pub fn index(&self) -> u64 {
        self.next
    }

    /// Writes the next item.
    ///
    /// # Panics
    /// If every slot of the burst is written.
    #[inline]
    pub fn push(&mut self, item: V::Item) {
        assert!(self.written < self.end, "every slot of the burst is written: commit it and stall again");
        // SAFETY: `next <= written < end`, so the slot belongs to this view. It holds no item, since `written` counts the
        // items.
        unsafe { self.view.store(self.written).put(self.written, item) };
        self.written += 1;
    }

    /// The item at `position` among those that are written and not committed, to change it again (Erbium's *poke*).
    #[inline]
    pub fn get_mut(&mut self, position: usize) -> Option<&mut V::Item> {
        let index = self.next.checked_add(position as u64)?;
        if index >= self.written {
            return None;
        }
        // SAFETY: the slots `next..written` hold items that only this view reaches, and the reference borrows the burst
        // mutably, so no other one exists and the item is not committed while it lives.
        Some(unsafe { self.view.store(index).get_mut(index) })
    }

    /// Writes items until the burst is full or the iterator ends. Returns how many items it wrote.
    ///
    /// If the iterator panics, the items that were written so far are dropped with the burst.
    pub fn fill(&mut self, items: impl IntoIterator<Item = V::Item>) -> usize {
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

    /// Hands over the items below `index`, which is an index in the stream, and keeps the other slots (Erbium, section 3,
    /// `commit`). It does nothing if they were handed over already.
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
        if index > self.next {
            self.next = index;
            self.view.publish(index);
        }
    }
}

#[cfg(not(loom))]
impl<V: WriteSide<Item: Copy + Default>> Slots<'_, V> {
    /// The uncommitted slots as slices to write to. All of them count as written afterwards.
    ///
    /// There is one slice, a second one if the window wraps around, and one more for each time that the record has grown. There
    /// is always one slice in a record that does not grow if every burst has the same power of two of slots, and this number
    /// divides the capacity, which is a power of two. The slots hold old items or their default value.
    #[inline]
    pub fn slices_mut(&mut self) -> impl Iterator<Item = &mut [V::Item]> {
        if self.written < self.end && self.written < self.view.store(self.end - 1).fresh() {
            self.fill_fresh();
        }
        self.written = self.end;
        let view = &*self.view;
        let (mut from, end) = (self.next, self.end);
        std::iter::from_fn(move || {
            if from >= end {
                return None;
            }
            let (slots, len) = view.store(from).run(from, end);
            from += len as u64;
            // SAFETY: the slots `next..end` belong to this view, and no two slices overlap. Each slot holds a value: what `push`
            // or `fill_fresh` wrote, or an old item, because a `Copy` item leaves its bits in place. The slices borrow the
            // burst mutably, so they end before it is committed.
            Some(unsafe { std::slice::from_raw_parts_mut(slots, len) })
        })
    }

    /// Calls `f` with slices of the slots, which it may write in any order, and the position of each slice's first slot. There
    /// are several slices if the slots wrap around the end of the record's memory. Before the call the slots hold old items or
    /// their default value. After it, all slots count as written.
    #[inline]
    pub fn with_slices(&mut self, mut f: impl FnMut(usize, &mut [V::Item])) {
        let mut at = 0;
        for slice in self.slices_mut() {
            let len = slice.len();
            f(at, slice);
            at += len;
        }
    }

    /// Gives a value to the slots that have never held one.
    #[cold]
    fn fill_fresh(&mut self) {
        while self.written < self.end {
            let store = self.view.store(self.written);
            if self.written < store.fresh() {
                self.push(V::Item::default());
            } else {
                self.written += store.run(self.written, self.end).1 as u64;
            }
        }
    }
}

impl<V: WriteSide> Drop for Slots<'_, V> {
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<V::Item>() {
            let mut leftovers = Leftovers::default();
            for index in self.next..self.written {
                // SAFETY: the slots `next..written` hold items that were not handed over. Each is dropped once, since the
                // burst ends here.
                leftovers.drop(|| unsafe { self.view.store(index).clear(index) });
            }
        }
    }
}

impl<V: WriteSide> fmt::Debug for Slots<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("index", &self.index()).field("len", &self.len()).finish()
    }
}

/// Items that a reader has received. They stay in the record until they are released or taken.
///
/// Dropping the burst gives back the slots of the items that were taken. The other items are received again.
///
/// A released item cannot be read any more, only one burst of a reader can be open at a time, and an item that other readers see
/// too cannot be taken:
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
/// ```compile_fail,E0599
/// let record = anabranch_network::record::Record::<String>::broadcast(2);
/// let mut reader = record.reader(0, 4).unwrap();
/// let item = reader.receive(1).pop(); // the other reader must see it too
/// ```
/// ```compile_fail,E0505
/// let record = anabranch_network::record::Record::<String>::broadcast(1);
/// let mut reader = record.reader(0, 4).unwrap();
/// let items = reader.receive(1);
/// let first = items.get(0);
/// items.release();
/// println!("{first:?}"); // would read a released slot
/// ```
#[must_use = "items that are not released are received again"]
pub struct Items<'a, V: ReadSide> {
    view: &'a mut V,
    /// The first item of the burst that was not taken or released.
    next: u64,
    /// The burst ends before this index.
    end: u64,
}

impl<'a, V: ReadSide> Items<'a, V> {
    /// The items up to `end`, which `view` has received.
    #[inline]
    pub(super) fn new(view: &'a mut V, end: u64) -> Self {
        let next = view.open();
        Self { view, next, end }
    }
}

impl<V: ReadSide> Items<'_, V> {
    /// How many items the burst has left.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.next) as usize
    }

    /// Whether no item is left. If a burst is empty when it is received, the stream has ended.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index in the stream of the first item that is left.
    #[inline]
    pub fn index(&self) -> u64 {
        self.next
    }

    /// The item at `position` among those that are left, counted from 0.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&V::Item> {
        if position >= self.len() {
            return None;
        }
        let index = self.next + position as u64;
        // SAFETY: this view may read the items of `next..end` until it releases them. An item moves only through `&mut self` of
        // its only owner, which the reference rules out.
        Some(unsafe { self.view.store(index).get(index) })
    }

    /// The items that are left, in order.
    pub fn iter(&self) -> impl Iterator<Item = &V::Item> {
        (0..self.len()).map_while(|position| self.get(position))
    }

    /// The items that are left, as slices: one slice, a second one if the window wraps around, and one more for each time that
    /// the record has grown.
    #[cfg(not(loom))]
    #[inline]
    pub fn slices(&self) -> impl Iterator<Item = &[V::Item]> {
        let (mut from, end) = (self.next, self.end);
        std::iter::from_fn(move || {
            if from >= end {
                return None;
            }
            let (slots, len) = self.view.store(from).run(from, end);
            from += len as u64;
            // SAFETY: as in `get`, for all slots of the slice.
            Some(unsafe { std::slice::from_raw_parts(slots, len) })
        })
    }

    /// Calls `f` with slices of the items that are left, and the position of each slice's first item. There are
    /// several slices if the burst wraps around the end of the record's memory.
    #[cfg(not(loom))]
    #[inline]
    pub fn with_slices(&self, mut f: impl FnMut(usize, &[V::Item])) {
        let mut at = 0;
        for slice in self.slices() {
            f(at, slice);
            at += slice.len();
        }
    }

    /// Gives back all slots of the burst. Items that only this reader may read are dropped.
    #[inline]
    pub fn release(self) {
        // `release_to` leaves the destructor nothing to publish. If dropping an item panics, this is a burst that was
        // forgotten: the next one publishes.
        let mut this = ManuallyDrop::new(self);
        let end = this.end;
        this.release_to(end);
        this.view.finish();
    }

    /// Gives back the slots of the items below `index`, which is an index in the stream (Erbium, section 3, `release`). It does
    /// nothing if they were given back already.
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
        if self.view.owns() && needs_drop::<V::Item>() {
            while self.next < index {
                let at = self.count(self.next + 1);
                // SAFETY: this view is the only owner of the item, and does not come back to it.
                unsafe { self.view.store(at).clear(at) };
            }
        } else if self.next < index {
            self.count(index);
        }
        self.view.publish();
    }
}

impl<V: ReadSide> Items<'_, V> {
    /// Counts the items below `index` as taken, before they are moved out or dropped: so even a burst that was forgotten, or a
    /// drop that panics, gives no item twice. Returns the first of them.
    #[inline]
    fn count(&mut self, index: u64) -> u64 {
        self.view.advance(index);
        std::mem::replace(&mut self.next, index)
    }
}

impl<V: OwningSide> Items<'_, V> {
    /// Takes the first item that is left.
    #[inline]
    pub fn pop(&mut self) -> Option<V::Item> {
        if self.is_empty() {
            return None;
        }
        let index = self.count(self.next + 1);
        // SAFETY: the item is committed, this view is its only owner, and does not come back to it.
        Some(unsafe { self.view.store(index).take(index) })
    }

    /// Takes the items that are left, one after another. Items that the iterator is not asked for stay in
    /// the burst.
    pub fn drain(&mut self) -> impl Iterator<Item = V::Item> {
        std::iter::from_fn(|| self.pop())
    }
}

impl<V: ReadSide> Drop for Items<'_, V> {
    #[inline]
    fn drop(&mut self) {
        self.view.publish();
        self.view.finish();
    }
}

/// The item at a position; position 0 is the first item that is left.
///
/// # Panics
/// If the burst has no item at that position.
impl<V: ReadSide> Index<usize> for Items<'_, V> {
    type Output = V::Item;

    #[inline]
    fn index(&self, position: usize) -> &V::Item {
        let len = self.len();
        self.get(position).unwrap_or_else(|| {
            panic!("`[{position}]`: the burst has {len} items, with the positions from 0 on")
        })
    }
}

impl<V: ReadSide> fmt::Debug for Items<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("index", &self.index()).field("len", &self.len()).finish()
    }
}
