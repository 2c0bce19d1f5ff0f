//! The reading view of a process. It has two interfaces: receive, look at and release windows of items, or
//! take one item after the other as an iterator.

use std::fmt;
use std::ops::{Index, Range};

use crate::record::{All, Deal, Dealt, Owning, ReadView, Reader as OneReader, ViewItems};

use super::view_handle::{Lazy, ViewHandle};

/// Reads a record of a [`Network`](super::Network): one item after the other as an iterator, or a window of
/// items at a time.
///
/// A reader belongs to the process that uses it first. It closes when it is dropped, or when that process
/// ends, even if the process has only borrowed it. When the last reader of a record has closed, its writers
/// get [`Closed`](super::Closed).
///
/// `R` says which items the reader sees. With [`Dealt`] it sees the items whose indices are dealt to it, and
/// may take them. If it is the only reader, these are all items. With [`All`] it sees every item, and shares
/// them with the record's other readers.
pub struct Reader<T, R: Deal = Dealt> {
    // Dropped first, because it notes which process has closed the view.
    pub(super) handle: ViewHandle,
    pub(super) port: ReadPort<T, R>,
}

/// The view behind a reader.
pub(super) enum ReadPort<T, R: Deal> {
    One(OneReader<T>),
    Many(ReadView<T, R>),
}

impl<T, R: Deal> Reader<T, R> {
    /// Waits for the next `n` items and returns them in place. The next call returns the same items again,
    /// unless they were [released](Items::release_to) or [taken](Items::pop).
    ///
    /// The result has fewer than `n` items at the end of the stream, and none after it. With [dealt](Dealt)
    /// indices it also has fewer at the end of a range. If `n` is more than the largest horizon that the
    /// record may have, the network ends with an error.
    ///
    /// # Panics
    /// If `n` is 0.
    #[inline]
    pub fn receive(&mut self, n: usize) -> Items<'_, T, R> {
        assert!(n > 0, "`receive(0)`: a burst has 1 item or more");
        let index = self.index();
        if self.handle.enter().is_err() {
            return Items(Burst::None(index));
        }
        if n > self.handle.record.horizon() && !self.widen(n) {
            self.handle.too_wide(n);
            return Items(Burst::None(index));
        }
        let how = Lazy::new(&mut self.handle, n);
        let items = match &mut self.port {
            ReadPort::One(view) => view.receive_by(n, &how).map(Burst::One),
            ReadPort::Many(view) => {
                if n > view.horizon() {
                    view.widen(n);
                }
                view.receive_by(n, &how).map(Burst::Many)
            }
        };
        let items = Items(items.unwrap_or(Burst::None(index)));
        if items.len() < n {
            how.notice();
        }
        items
    }

    /// Releases the items before `range` without reading them, and receives the items in `range` (Erbium's
    /// `receive_range`). The result has fewer items if the stream ends before the end of the range.
    ///
    /// # Panics
    /// If the range is empty, or begins before [`index`](Self::index).
    pub fn receive_range(&mut self, range: Range<u64>) -> Items<'_, T, R> {
        let index = self.index();
        assert!(range.start >= index, "`receive_range({range:?})`: the items before {index} were released");
        assert!(range.start < range.end, "`receive_range({range:?})`: a range has 1 item or more");
        while self.index() < range.start {
            let before = range.start - self.index();
            let mut items = self.receive(before.min(self.horizon() as u64) as usize);
            if items.is_empty() {
                break;
            }
            // A dealt range may reach beyond the start.
            let end = range.start.min(items.index() + items.len() as u64);
            items.release_to(end);
        }
        self.receive((range.end - range.start) as usize)
    }

    /// Begins to fetch the next `n` items into the cache, as far as they have been written, and returns at
    /// once. This is the first phase of a split-phase receive. It pays if there is other work to do before
    /// the items are read.
    pub fn ask(&mut self, n: usize) {
        if self.handle.enter().is_ok() {
            match &mut self.port {
                ReadPort::One(view) => view.ask(n),
                ReadPort::Many(view) => view.ask(n),
            };
        }
    }

    /// Widens the record to `n` items, if it may grow so far. Returns whether it may.
    fn widen(&mut self, n: usize) -> bool {
        let fits = n <= self.handle.record.most;
        if fits && let ReadPort::Many(view) = &mut self.port {
            view.widen(n);
            self.handle.record.set_horizon(n);
        }
        fits
    }

    /// The index in the stream of the first item that was not released yet.
    pub fn index(&self) -> u64 {
        match &self.port {
            ReadPort::One(view) => view.index(),
            ReadPort::Many(view) => view.index(),
        }
    }

    /// How many items the record may hold at this moment.
    pub fn horizon(&self) -> usize {
        self.handle.record.horizon()
    }

    /// Closes the view and leaves its id to a successor, which goes on where this view stops. Only a view
    /// that was registered with a [`Registry`](super::Registry) leaves its id; any other view just closes.
    pub fn leave(self) {
        let Self { handle, port } = self;
        drop(handle);
        if let ReadPort::Many(view) = port {
            view.leave();
        }
    }

    /// Makes the view belong to the process that uses it next. A process that has used a view must call this
    /// before it moves the view into a process that it creates. Otherwise the view closes when the first
    /// process ends.
    #[must_use = "the view that is handed over is moved into another process"]
    pub fn hand_over(mut self) -> Self {
        self.handle.hand_over();
        self
    }
}

/// Takes one item after the other, and waits for each. The iterator ends at the end of the stream.
impl<T> Iterator for Reader<T, Dealt> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.handle.enter().is_err() {
            return None;
        }
        if let ReadPort::One(view) = &mut self.port
            && let Some(mut items) = view.try_receive(1)
            && let Some(item) = items.pop()
        {
            return Some(item);
        }
        self.receive(1).pop()
    }
}

/// Clones one item after the other, and waits for each. The iterator ends at the end of the stream.
impl<T: Clone> Iterator for Reader<T, All> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let items = self.receive(1);
        let item = items.get(0)?.clone();
        items.release();
        Some(item)
    }
}

impl<T, R: Deal> fmt::Debug for Reader<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("record", &self.handle.record.title())
            .field("index", &self.index())
            .finish_non_exhaustive()
    }
}

/// A window of items that a [`Reader`] has received. The items stay in the record until they are released or
/// taken.
#[must_use = "items that are not released are received again"]
pub struct Items<'a, T, R: Deal = Dealt>(pub(super) Burst<'a, T, R>);

pub(super) enum Burst<'a, T, R: Deal> {
    One(crate::record::Items<'a, T>),
    Many(ViewItems<'a, T, R>),
    /// No items, because the view is closed. The number is the index of the view.
    None(u64),
}

impl<T, R: Deal> Items<'_, T, R> {
    /// How many items the window has. Items that were released or taken do not count.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Burst::One(items) => items.len(),
            Burst::Many(items) => items.len(),
            Burst::None(_) => 0,
        }
    }

    /// Whether the window has no items. For a window that was just received, this means that the stream has
    /// ended.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index in the stream of the window's first item.
    pub fn index(&self) -> u64 {
        match &self.0 {
            Burst::One(items) => items.index(),
            Burst::Many(items) => items.index(),
            Burst::None(index) => *index,
        }
    }

    /// The item at `position`; position 0 is the window's first item.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&T> {
        match &self.0 {
            Burst::One(items) => items.get(position),
            Burst::Many(items) => items.get(position),
            Burst::None(_) => None,
        }
    }

    /// The items of the window, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map_while(|position| self.get(position))
    }

    /// Calls `f` with slices of the window's items, and the position of each slice's first item. There are
    /// several slices if the window wraps around the end of the record's memory.
    #[inline]
    pub fn with_slices(&self, mut f: impl FnMut(usize, &[T])) {
        let mut at = 0;
        let mut call = |slice: &[T]| {
            if !slice.is_empty() {
                f(at, slice);
                at += slice.len();
            }
        };
        match &self.0 {
            Burst::One(items) => items.slices().into_iter().for_each(&mut call),
            Burst::Many(items) => items.slices().for_each(&mut call),
            Burst::None(_) => {}
        }
    }

    /// Releases all items of the window. Items that no other reader still has to see are dropped.
    pub fn release(self) {
        match self.0 {
            Burst::One(items) => items.release(),
            Burst::Many(items) => items.release(),
            Burst::None(_) => {}
        }
    }

    /// Releases the items below `index`, which is an index in the stream. Does nothing if they were released
    /// before.
    ///
    /// # Panics
    /// If `index` is beyond the end of the window.
    pub fn release_to(&mut self, index: u64) {
        match &mut self.0 {
            Burst::One(items) => items.release_to(index),
            Burst::Many(items) => items.release_to(index),
            Burst::None(_) => {}
        }
    }
}

impl<T, R: Owning> Items<'_, T, R> {
    /// Takes the window's first item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        match &mut self.0 {
            Burst::One(items) => items.pop(),
            Burst::Many(items) => items.pop(),
            Burst::None(_) => None,
        }
    }

    /// Takes the items of the window, one by one. Items that the iterator is not asked for stay in the
    /// window.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.pop())
    }
}

/// The item at a position; position 0 is the window's first item.
///
/// # Panics
/// If the window has no item at that position.
impl<T, R: Deal> Index<usize> for Items<'_, T, R> {
    type Output = T;

    #[inline]
    fn index(&self, position: usize) -> &T {
        let len = self.len();
        self.get(position).unwrap_or_else(|| {
            panic!("`[{position}]`: the burst has {len} items, with the positions from 0 on")
        })
    }
}

impl<T, R: Deal> fmt::Debug for Items<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("index", &self.index()).field("len", &self.len()).finish()
    }
}
