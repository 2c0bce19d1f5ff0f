//! The writing view of a process. It has two interfaces: reserve, write and commit several slots, or push
//! single items.

use std::fmt;

use crate::record::{Closed, Dealt, ViewSlots, WriteView, Writer as OneWriter};

use super::view_handle::{Lazy, ViewHandle};

/// Writes into a record of a [`Network`](super::Network).
///
/// A writer belongs to the process that uses it first. It closes when it is dropped, or when that process
/// ends, even if the process has only borrowed it. A closed writer ends the stream: its readers get the items
/// that were committed, and then nothing.
///
/// If the indices are [dealt](super::Network::shared) to several writers, each writes ranges of indices in
/// turn.
pub struct Writer<T> {
    // Dropped first, because it notes which process has closed the view.
    pub(super) handle: ViewHandle,
    pub(super) port: WritePort<T>,
}

/// The view behind a writer.
pub(super) enum WritePort<T> {
    One(OneWriter<T>),
    Many(WriteView<T, Dealt>),
}

impl<T> Writer<T> {
    /// Waits for room, and writes and commits one item.
    ///
    /// # Errors
    /// [`Closed`] if no reader is left.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Closed> {
        self.handle.enter()?;
        if let WritePort::One(view) = &mut self.port
            && let Ok(mut slots) = view.try_stall(1)
        {
            slots.push(item);
            slots.commit();
            return Ok(());
        }
        self.push_slowly(item)
    }

    /// Writes and commits an item if there is room and a reader now. Gives it back otherwise.
    pub(super) fn try_push(&mut self, item: T) -> Result<(), T> {
        macro_rules! push {
            ($view:expr) => {
                match $view.try_stall(1) {
                    Ok(mut slots) => {
                        slots.push(item);
                        slots.commit();
                        Ok(())
                    }
                    Err(_) => Err(item),
                }
            };
        }
        match &mut self.port {
            WritePort::One(view) => push!(view),
            WritePort::Many(view) => push!(view),
        }
    }

    #[cold]
    fn push_slowly(&mut self, item: T) -> Result<(), Closed> {
        let mut slots = self.stall(1)?;
        slots.push(item);
        slots.commit();
        Ok(())
    }

    /// Waits for room, and reserves the next `n` slots. With [dealt](super::Network::shared) indices there
    /// are fewer slots at the end of a range. Slots that are not committed are reserved again by the next
    /// call.
    ///
    /// # Errors
    /// [`Closed`] if no reader is left. If `n` is more than the largest horizon that the record may have, the
    /// result is [`Closed`] too, and the network ends with an error.
    ///
    /// # Panics
    /// If `n` is 0.
    #[inline]
    pub fn stall(&mut self, n: usize) -> Result<Slots<'_, T>, Closed> {
        assert!(n > 0, "`stall(0)`: a burst has 1 slot or more");
        self.handle.enter()?;
        if n > self.handle.record.horizon() && !self.widen(n) {
            self.handle.too_wide(n);
            return Err(Closed);
        }
        let how = Lazy::new(&mut self.handle, n);
        let slots = match &mut self.port {
            WritePort::One(view) => view.stall_by(n, &how).map(|slots| slots.map(Burst::One)),
            WritePort::Many(view) => {
                if n > view.horizon() {
                    view.widen(n);
                }
                view.stall_by(n, &how).map(|slots| slots.map(Burst::Many))
            }
        };
        match slots {
            Some(Ok(slots)) => Ok(Slots(slots)),
            Some(Err(Closed)) | None => {
                how.notice();
                Err(Closed)
            }
        }
    }

    /// Widens the record to `n` items, if it may grow so far. Returns whether it may.
    fn widen(&mut self, n: usize) -> bool {
        let fits = n <= self.handle.record.most;
        if fits && let WritePort::Many(view) = &mut self.port {
            view.widen(n);
            self.handle.record.set_horizon(n);
        }
        fits
    }

    /// The index in the stream of the next item that the writer will commit.
    pub fn index(&self) -> u64 {
        match &self.port {
            WritePort::One(view) => view.index(),
            WritePort::Many(view) => view.index(),
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
        if let WritePort::Many(view) = port {
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

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("record", &self.handle.record.title())
            .field("index", &self.index())
            .finish_non_exhaustive()
    }
}

/// Slots that a [`Writer`] has reserved. Only the writer sees them until they are committed. Dropping this
/// value drops items that were written and not committed.
#[derive(Debug)]
#[must_use = "slots that are not committed are reserved again"]
pub struct Slots<'a, T>(Burst<'a, T>);

#[derive(Debug)]
enum Burst<'a, T> {
    One(crate::record::Slots<'a, T>),
    Many(ViewSlots<'a, T, Dealt>),
}

macro_rules! either {
    ($self:expr, $slots:ident => $call:expr) => {
        match $self {
            Burst::One($slots) => $call,
            Burst::Many($slots) => $call,
        }
    };
}

impl<'a, T> Slots<'a, T> {
    pub(super) fn one(slots: crate::record::Slots<'a, T>) -> Self {
        Self(Burst::One(slots))
    }

    pub(super) fn many(slots: ViewSlots<'a, T, Dealt>) -> Self {
        Self(Burst::Many(slots))
    }
}

impl<T> Slots<'_, T> {
    /// How many slots are not committed yet.
    pub fn len(&self) -> usize {
        either!(&self.0, slots => slots.len())
    }

    /// Whether all slots are committed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index in the stream of the first slot that is not committed.
    pub fn index(&self) -> u64 {
        either!(&self.0, slots => slots.index())
    }

    /// Writes the next item.
    ///
    /// # Panics
    /// If every slot is written.
    #[inline]
    pub fn push(&mut self, item: T) {
        either!(&mut self.0, slots => slots.push(item));
    }

    /// Writes items until every slot is written or there are no more items. Returns how many items were
    /// written.
    pub fn fill(&mut self, items: impl IntoIterator<Item = T>) -> usize {
        either!(&mut self.0, slots => slots.fill(items))
    }

    /// The item at `position` among the items that are written and not committed, to change it again
    /// (Erbium's *poke*).
    #[inline]
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        either!(&mut self.0, slots => slots.get_mut(position))
    }

    /// Commits the items that were written, and gives the other slots back.
    #[inline]
    pub fn commit(self) {
        match self.0 {
            Burst::One(slots) => slots.commit(),
            Burst::Many(slots) => slots.commit(),
        }
    }

    /// Commits the items below `index`, which is an index in the stream, and keeps the others. Does nothing
    /// if they were committed before.
    ///
    /// # Panics
    /// If an item below `index` is not written.
    pub fn commit_to(&mut self, index: u64) {
        either!(&mut self.0, slots => slots.commit_to(index));
    }
}

impl<T: Copy + Default> Slots<'_, T> {
    /// Calls `f` with slices of the slots, which it may write in any order, and the position of each slice's
    /// first slot. There are several slices if the slots wrap around the end of the record's memory. Before
    /// the call the slots hold old items or `T::default()`. After it, all slots count as written.
    #[inline]
    pub fn with_slices(&mut self, mut f: impl FnMut(usize, &mut [T])) {
        let mut at = 0;
        let mut call = |slice: &mut [T]| {
            if !slice.is_empty() {
                f(at, slice);
                at += slice.len();
            }
        };
        match &mut self.0 {
            Burst::One(slots) => slots.slices_mut().into_iter().for_each(&mut call),
            Burst::Many(slots) => slots.slices_mut().for_each(&mut call),
        }
    }
}
