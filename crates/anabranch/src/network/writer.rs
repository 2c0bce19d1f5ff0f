//! The writing view of a process: stall, write, commit; or push.

use std::fmt;

use anabranch_record::{Closed, Dealt, ViewSlots, WriteView, Writer as OneWriter};

use super::{grip::Grip, sleep::Lazy};

/// Writes into a record of a [`Network`](super::Network).
///
/// It belongs to the process that uses it first and closes when that process ends, whether the process has it or
/// has borrowed it, or when it is dropped. A closed writer ends the stream: its readers get what was committed, and
/// then nothing.
///
/// With [dealt](super::Network::shared) indices it owns ranges of them, in turn with the record's other writers.
pub struct Writer<T> {
    // Dropped first: it says who has closed the view.
    pub(super) grip: Grip,
    pub(super) port: WritePort<T>,
}

/// The view behind a writer.
pub(super) enum WritePort<T> {
    One(OneWriter<T>),
    Many(WriteView<T, Dealt>),
}

impl<T> Writer<T> {
    /// Writes and commits one item, waiting for room.
    ///
    /// # Errors
    /// [`Closed`] if no reader is left.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Closed> {
        self.grip.enter()?;
        if let WritePort::One(view) = &mut self.port
            && let Ok(mut slots) = view.try_stall(1)
        {
            slots.push(item);
            slots.commit();
            return Ok(());
        }
        self.push_slowly(item)
    }

    #[cold]
    fn push_slowly(&mut self, item: T) -> Result<(), Closed> {
        let mut slots = self.stall(1)?;
        slots.push(item);
        slots.commit();
        Ok(())
    }

    /// Reserves the next `n` slots, waiting for room. With [dealt](super::Network::shared) indices there are fewer
    /// at the end of a range. Slots that are not committed are reserved again by the next call.
    ///
    /// # Errors
    /// [`Closed`] if no reader is left. If `n` is more than the record's horizon, the network ends with an error
    /// that says so, too.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn stall(&mut self, n: usize) -> Result<Slots<'_, T>, Closed> {
        assert!(n > 0, "a burst has 1 slot or more, not 0");
        self.grip.enter()?;
        if n > self.grip.record.horizon() && !self.widen(n) {
            self.grip.too_wide(n);
            return Err(Closed);
        }
        let how = Lazy::new(&mut self.grip, n);
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

    /// Makes the record hold `n` items, if it may.
    fn widen(&mut self, n: usize) -> bool {
        let fits = n <= self.grip.record.most;
        if fits && let WritePort::Many(view) = &mut self.port {
            view.widen(n);
            self.grip.record.set_horizon(n);
        }
        fits
    }

    /// The index of the next item that it will commit.
    pub fn index(&self) -> u64 {
        match &self.port {
            WritePort::One(view) => view.index(),
            WritePort::Many(view) => view.index(),
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
        if let WritePort::Many(view) = port {
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

impl<T> fmt::Debug for Writer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("record", &self.grip.record.title())
            .field("index", &self.index())
            .finish_non_exhaustive()
    }
}

/// Slots that a [`Writer`] has reserved: its own until committed. Dropping them drops what was written and not
/// committed.
#[derive(Debug)]
#[must_use = "slots that are not committed are reserved again"]
pub struct Slots<'a, T>(Burst<'a, T>);

#[derive(Debug)]
enum Burst<'a, T> {
    One(anabranch_record::Slots<'a, T>),
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
    pub(super) fn one(slots: anabranch_record::Slots<'a, T>) -> Self {
        Self(Burst::One(slots))
    }

    pub(super) fn many(slots: ViewSlots<'a, T, Dealt>) -> Self {
        Self(Burst::Many(slots))
    }
}

impl<T> Slots<'_, T> {
    /// How many slots are left to commit.
    pub fn len(&self) -> usize {
        either!(&self.0, slots => slots.len())
    }

    /// Whether all are committed.
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

    /// Writes items until every slot is written or there are no more. Returns how many.
    pub fn fill(&mut self, items: impl IntoIterator<Item = T>) -> usize {
        either!(&mut self.0, slots => slots.fill(items))
    }

    /// The item at `position` of those written and not committed: to change it again (Erbium's *poke*).
    #[inline]
    pub fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        either!(&mut self.0, slots => slots.get_mut(position))
    }

    /// Hands over what was written and gives the other slots back.
    #[inline]
    pub fn commit(self) {
        match self.0 {
            Burst::One(slots) => slots.commit(),
            Burst::Many(slots) => slots.commit(),
        }
    }

    /// Hands over the items below `index`, an index in the stream, and keeps the others. Does nothing if they were
    /// handed over before.
    ///
    /// # Panics
    /// If an item below `index` is not written.
    pub fn commit_to(&mut self, index: u64) {
        either!(&mut self.0, slots => slots.commit_to(index));
    }
}

impl<T: Copy + Default> Slots<'_, T> {
    /// Calls `f` with the slots as plain memory, to be written in any order: one slice, or several where the window
    /// wraps, each with the position of its first slot. All count as written afterwards; they hold old items or
    /// `T::default()` before.
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
