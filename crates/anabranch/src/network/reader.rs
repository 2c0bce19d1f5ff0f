//! The reading view of a process: receive, look, release; or next.

use std::fmt;
use std::ops::{Index, Range};

use anabranch_record::{All, Deal, Dealt, Owning, ReadView, Reader as OneReader, ViewItems};

use super::{grip::Grip, sleep::Lazy};

/// Reads a record of a [`Network`](super::Network), one item after the other as an iterator, or a window of them at
/// a time.
///
/// It belongs to the process that uses it first and closes when that process ends, whether the process has it or
/// has borrowed it, or when it is dropped. When the last reader of a record is closed, its writers learn it.
///
/// `R` says which items it sees: those of the indices that are [dealt](Dealt) to it (every one, if it is the only
/// reader) and that it may take; or [all](All), shared with the record's other readers.
pub struct Reader<T, R: Deal = Dealt> {
    // Dropped first: it says who has closed the view.
    pub(super) grip: Grip,
    pub(super) port: ReadPort<T, R>,
}

/// The view behind a reader.
pub(super) enum ReadPort<T, R: Deal> {
    One(OneReader<T>),
    Many(ReadView<T, R>),
}

impl<T, R: Deal> Reader<T, R> {
    /// Waits for the next `n` items and shows them, without taking them: they are received again until they are
    /// [released](Items::release_to) or [taken](Items::pop).
    ///
    /// There are fewer at the end of the stream: first what is left, then none. With [dealt](Dealt) indices there
    /// are fewer at the end of a range, too, but none only at the end of the stream. If `n` is more than the
    /// record's horizon, the network ends with an error that says so.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn receive(&mut self, n: usize) -> Items<'_, T, R> {
        assert!(n > 0, "a burst has 1 item or more, not 0");
        let index = self.index();
        if self.grip.enter().is_err() {
            return Items(Burst::None(index));
        }
        if n > self.grip.record.horizon() && !self.widen(n) {
            self.grip.too_wide(n);
            return Items(Burst::None(index));
        }
        let how = Lazy::new(&mut self.grip, n);
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

    /// Releases the items before `range`, unread, and receives those in it (Erbium's `receive_range`): to look at
    /// one part of the stream only. The end of the stream may come before.
    ///
    /// # Panics
    /// If the range is empty, or begins before [`index`](Self::index).
    pub fn receive_range(&mut self, range: Range<u64>) -> Items<'_, T, R> {
        assert!(range.start >= self.index(), "items before {} were released", self.index());
        assert!(range.start < range.end, "an empty range");
        while self.index() < range.start {
            let before = range.start - self.index();
            let mut items = self.receive(before.min(self.horizon() as u64) as usize);
            if items.is_empty() {
                break;
            }
            // A dealt range may go on beyond the start.
            let end = range.start.min(items.index() + items.len() as u64);
            items.release_to(end);
        }
        self.receive((range.end - range.start) as usize)
    }

    /// Begins to fetch the next `n` items into the cache, as far as they are there, and returns at once: the first
    /// phase of a split-phase receive, worth it when there is other work before the items are read.
    pub fn ask(&mut self, n: usize) {
        if self.grip.enter().is_ok() {
            match &mut self.port {
                ReadPort::One(view) => view.ask(n),
                ReadPort::Many(view) => view.ask(n),
            };
        }
    }

    /// Makes the record hold `n` items, if it may.
    fn widen(&mut self, n: usize) -> bool {
        let fits = n <= self.grip.record.most;
        if fits && let ReadPort::Many(view) = &mut self.port {
            view.widen(n);
            self.grip.record.set_horizon(n);
        }
        fits
    }

    /// The index in the stream of the first item that was not released.
    pub fn index(&self) -> u64 {
        match &self.port {
            ReadPort::One(view) => view.index(),
            ReadPort::Many(view) => view.index(),
        }
    }

    /// How many items the record may hold now.
    pub fn horizon(&self) -> usize {
        self.grip.record.horizon()
    }

    /// Leaves the id to a successor, which goes on where this view stops, if it was registered with a
    /// [`Registry`](super::Registry); other views close.
    pub fn leave(self) {
        let Self { grip, port } = self;
        drop(grip);
        if let ReadPort::Many(view) = port {
            view.leave();
        }
    }

    /// Gives the view up, so that it belongs to the process that uses it next. A process that creates another one
    /// and moves a view into it which it has used itself hands it over first; else the view closes when the
    /// process ends that used it first.
    #[must_use = "the view that is handed over is moved into another process"]
    pub fn hand_over(mut self) -> Self {
        self.grip.hand_over();
        self
    }
}

/// Takes one item after the other, waiting for each; none at the end of the stream.
impl<T> Iterator for Reader<T, Dealt> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.grip.enter().is_err() {
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

/// Clones one item after the other, waiting for each; none at the end of the stream.
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
            .field("record", &self.grip.record.title())
            .field("index", &self.index())
            .finish_non_exhaustive()
    }
}

/// Items that a [`Reader`] has received, in place: a window that is dropped, released or slid on.
#[must_use = "items that are not released are received again"]
pub struct Items<'a, T, R: Deal = Dealt>(pub(super) Burst<'a, T, R>);

pub(super) enum Burst<'a, T, R: Deal> {
    One(anabranch_record::Items<'a, T>),
    Many(ViewItems<'a, T, R>),
    /// Of a closed view, with its index.
    None(u64),
}

impl<T, R: Deal> Items<'_, T, R> {
    /// How many items are left.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Burst::One(items) => items.len(),
            Burst::Many(items) => items.len(),
            Burst::None(_) => 0,
        }
    }

    /// Whether none is left: of a window just received, that the stream has ended.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index in the stream of the first item left.
    pub fn index(&self) -> u64 {
        match &self.0 {
            Burst::One(items) => items.index(),
            Burst::Many(items) => items.index(),
            Burst::None(index) => *index,
        }
    }

    /// The item at `position` of those left.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&T> {
        match &self.0 {
            Burst::One(items) => items.get(position),
            Burst::Many(items) => items.get(position),
            Burst::None(_) => None,
        }
    }

    /// The items left, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map_while(|position| self.get(position))
    }

    /// Calls `f` with the items left as plain memory: one slice, or several where the window wraps, each with the
    /// position of its first item.
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

    /// Gives all slots back; items that nobody else reads are dropped.
    pub fn release(self) {
        match self.0 {
            Burst::One(items) => items.release(),
            Burst::Many(items) => items.release(),
            Burst::None(_) => {}
        }
    }

    /// Gives the slots of the items below `index`, an index in the stream, back: the window slides on. Does nothing
    /// if that was done before.
    ///
    /// # Panics
    /// If `index` lies beyond the window.
    pub fn release_to(&mut self, index: u64) {
        match &mut self.0 {
            Burst::One(items) => items.release_to(index),
            Burst::Many(items) => items.release_to(index),
            Burst::None(_) => {}
        }
    }
}

impl<T, R: Owning> Items<'_, T, R> {
    /// Takes the first item left.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        match &mut self.0 {
            Burst::One(items) => items.pop(),
            Burst::Many(items) => items.pop(),
            Burst::None(_) => None,
        }
    }

    /// Takes the items left, one by one; those not asked for stay.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.pop())
    }
}

/// The item at a position of those left.
///
/// # Panics
/// If there is none.
impl<T, R: Deal> Index<usize> for Items<'_, T, R> {
    type Output = T;

    #[inline]
    fn index(&self, position: usize) -> &T {
        let len = self.len();
        self.get(position).unwrap_or_else(|| panic!("no item at {position} of a window of {len}"))
    }
}

impl<T, R: Deal> fmt::Debug for Items<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("index", &self.index()).field("len", &self.len()).finish()
    }
}
