//! The reading view of a process. It has two interfaces: receive, look at and release windows of items, or
//! take one item after the other as an iterator.

use std::fmt;
use std::ops::Range;

use crate::record::port::ReadPort;
use crate::record::{All, Deal, Dealt};

use super::view_handle::{Lazy, ViewHandle, view};

/// Reads a record of a [`Network`](super::Network): one item after the other as an iterator, or a window of
/// items at a time.
///
/// A reader belongs to the process that uses it first. It closes when it is dropped, or when that process
/// ends, even if the process has only borrowed it. When the last reader of a record has closed, its writers
/// get [`Closed`](crate::Closed).
///
/// `R` says which items the reader sees. With [`Dealt`] it sees the items whose indices are dealt to it, and
/// may take them. If it is the only reader, these are all items. With [`All`] it sees every item, and shares
/// them with the record's other readers.
pub struct Reader<T, R: Deal = Dealt> {
    // Dropped first, because it notes which process has closed the view.
    pub(super) handle: ViewHandle,
    pub(super) port: ReadPort<T, R>,
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
        if self.handle.enter().is_err() {
            return self.port.nothing();
        }
        if n > self.handle.record.horizon() && !self.widen(n) {
            self.handle.too_wide(n);
            return self.port.nothing();
        }
        self.port.widen(n);
        let how = Lazy::new(&mut self.handle, n);
        let items = self.port.receive_by(n, &how);
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
            self.port.ask(n);
        }
    }

    /// The index in the stream of the first item that was not released yet.
    pub fn index(&self) -> u64 {
        self.port.index()
    }
}

view!([T, R: Deal] Reader<T, R>);

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

/// Items that a [`Reader`] has received. They stay in the record until they are released or taken.
pub type Items<'a, T, R = Dealt> = crate::record::Items<'a, ReadPort<T, R>>;
