//! The ports of serial stages and of the sink. Both take cells in index order.

use std::marker::PhantomData;

use super::arrival::Arrived;
use super::cell::Cell;
use super::domain::Domain;
use super::hop::Hop;
use super::slots::Slots;
use crate::sync::{Arc, Ordering};

/// The reading end of a lane whose reader is not chosen yet. The lane's writer is serial: a source or a
/// stage.
#[derive(Debug)]
pub struct Committed<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
}

/// The reading end of a lane whose writer is a hop. Only a serial port can read it.
#[derive(Debug)]
pub struct Stamped<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
}

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for super::Committed<T> {}
    impl<T> Sealed for super::Stamped<T> {}
}

/// A reading end that a serial port can use: [`Committed`] or [`Stamped`].
pub trait Inlet<T>: sealed::Sealed + Sized {
    /// Creates the port of a serial stage that turns `T` into `U`, and the reading end of the lane after it.
    fn stage<U: Send>(self) -> (Stage<T, U, Self>, Committed<U>) {
        let (domain, slots) = self.parts();
        let (domain, slots) = (Arc::clone(domain), Arc::clone(slots));
        let output = Arc::new(Slots::new(domain.window() as usize));
        let stage = Stage {
            reader: Reader::new(slots),
            output: Arc::clone(&output),
            put: 0,
            domain: Arc::clone(&domain),
        };
        (stage, Committed::new(domain, output))
    }

    /// Creates the port of the sink.
    fn sink(self) -> Sink<T, Self> {
        let (domain, slots) = self.parts();
        Sink { reader: Reader::new(Arc::clone(slots)), domain: Arc::clone(domain) }
    }

    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn parts(&self) -> (&Arc<Domain>, &Arc<Slots<T>>);

    /// The end of what is known to be published: `next` if index `next` is not published, and a higher index
    /// if it is. Every index below `next` was published before.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn published(slots: &Slots<T>, next: u64) -> u64;
}

impl<T> Committed<T> {
    pub(super) fn new(domain: Arc<Domain>, slots: Arc<Slots<T>>) -> Self {
        Self { domain, slots }
    }

    /// The domain of this lane.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Creates the port of a parallel stage that turns `T` into `U`, and the reading end of the lane after
    /// it.
    pub fn hop<U: Send>(self) -> (Hop<T, U>, Stamped<U>) {
        let output = Arc::new(Slots::new(self.domain.window() as usize));
        let hop = Hop::new(Arc::clone(&self.domain), self.slots, Arc::clone(&output), None);
        (hop, Stamped { domain: self.domain, slots: output })
    }

    /// Like [`hop`](Self::hop), but the lane after it is read in the order of arrival.
    pub fn unordered_hop<U: Send>(self) -> (Hop<T, U>, Arrived<U>) {
        let output = Arc::new(Slots::new(self.domain.window() as usize));
        let (lane, arrivals) = Arrived::new(Arc::clone(&self.domain), Arc::clone(&output));
        let hop = Hop::new(self.domain, self.slots, output, Some(arrivals));
        (hop, lane)
    }

    /// Creates the port of a serial stage. See [`Inlet::stage`].
    pub fn stage<U: Send>(self) -> (Stage<T, U, Self>, Committed<U>) {
        Inlet::stage(self)
    }

    /// Creates the port of the sink.
    pub fn sink(self) -> Sink<T, Self> {
        Inlet::sink(self)
    }
}

impl<T> Stamped<T> {
    /// Creates the port of a serial stage. See [`Inlet::stage`].
    pub fn stage<U: Send>(self) -> (Stage<T, U, Self>, Committed<U>) {
        Inlet::stage(self)
    }

    /// Creates the port of the sink.
    pub fn sink(self) -> Sink<T, Self> {
        Inlet::sink(self)
    }
}

impl<T> Inlet<T> for Committed<T> {
    #[allow(private_interfaces)]
    fn parts(&self) -> (&Arc<Domain>, &Arc<Slots<T>>) {
        (&self.domain, &self.slots)
    }

    #[inline]
    #[allow(private_interfaces)]
    fn published(slots: &Slots<T>, _: u64) -> u64 {
        slots.commit.load(Ordering::Acquire)
    }
}

impl<T> Inlet<T> for Stamped<T> {
    #[allow(private_interfaces)]
    fn parts(&self) -> (&Arc<Domain>, &Arc<Slots<T>>) {
        (&self.domain, &self.slots)
    }

    #[inline]
    #[allow(private_interfaces)]
    fn published(slots: &Slots<T>, next: u64) -> u64 {
        next + u64::from(slots.is_stamped(next))
    }
}

/// The reader of a lane, which takes its cells in index order.
#[derive(Debug)]
struct Reader<T, I> {
    slots: Arc<Slots<T>>,
    /// Every index below this one was taken. `slots.taken` has the same value, for other threads to read.
    taken: u64,
    /// Every index below this one is known to be published. `taken <= published`.
    published: u64,
    inlet: PhantomData<fn() -> I>,
}

impl<T, I: Inlet<T>> Reader<T, I> {
    fn new(slots: Arc<Slots<T>>) -> Self {
        Self { slots, taken: 0, published: 0, inlet: PhantomData }
    }

    #[inline]
    fn is_ready(&mut self) -> bool {
        if self.published == self.taken {
            self.published = I::published(&self.slots, self.taken);
        }
        self.published > self.taken
    }

    #[inline]
    fn take(&mut self) -> Option<Cell<T>> {
        if !self.is_ready() {
            return None;
        }
        let index = self.taken;
        self.taken += 1;
        self.slots.taken.store(self.taken, Ordering::Relaxed);
        // SAFETY: the lane has one reader, `taken` passes each index once, and `published`, which is above
        // the index, was loaded with acquire.
        Some(unsafe { self.slots.take(index) })
    }
}

/// A view of a lane's next cell from outside. It tells whether the serial reader would find a cell.
#[derive(Debug)]
pub struct Watch<T, I> {
    slots: Arc<Slots<T>>,
    inlet: PhantomData<fn() -> I>,
}

impl<T, I: Inlet<T>> Watch<T, I> {
    /// How many cells the reader has taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.slots.taken.load(Ordering::Relaxed)
    }

    /// Whether the reader's next cell is published. The answer may be outdated: the reader may have taken the
    /// cell already.
    #[inline]
    pub fn is_ready(&self) -> bool {
        let next = self.slots.taken.load(Ordering::Relaxed);
        I::published(&self.slots, next) > next
    }
}

/// The port of a serial stage. It takes cells in index order and puts one result for each, at the same index.
#[derive(Debug)]
pub struct Stage<T, U, I> {
    domain: Arc<Domain>,
    reader: Reader<T, I>,
    output: Arc<Slots<U>>,
    /// Every index below this one was put. `reader.taken - put` is 0 or 1.
    put: u64,
}

impl<T, U, I: Inlet<T>> Stage<T, U, I> {
    /// The domain of this stage.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// The index that the next [`put`](Self::put) fills.
    #[inline]
    pub fn index(&self) -> u64 {
        self.put
    }

    /// Returns a view of the stage's next cell, for threads that do not hold the stage.
    pub fn watch(&self) -> Watch<T, I> {
        Watch { slots: Arc::clone(&self.reader.slots), inlet: PhantomData }
    }

    /// Whether the next cell can be taken.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.reader.is_ready()
    }

    /// Takes the next cell. Returns `None` if it is not published yet, or if the result of the previous cell
    /// was not put.
    #[inline]
    pub fn take(&mut self) -> Option<Cell<T>> {
        if self.put != self.reader.taken {
            return None;
        }
        self.reader.take()
    }

    /// Puts the result of the cell that was taken last.
    ///
    /// # Panics
    /// If no cell was taken since the previous call.
    #[inline]
    pub fn put(&mut self, cell: Cell<U>) {
        assert!(self.put != self.reader.taken, "`put` needs a cell: call `take` first");
        // SAFETY: this stage is the only writer of the lane, and `put` passes each index once. The cell of
        // the slot's previous index was taken, as `Source::put` argues. The lanes before this one order that
        // before this write.
        unsafe { self.output.write(self.put, cell, Ordering::Relaxed) };
        self.put += 1;
        self.output.commit.store(self.put, Ordering::Release);
    }
}

/// The last port of a domain. It takes cells in index order and gives their indices back to the source.
#[derive(Debug)]
pub struct Sink<T, I> {
    domain: Arc<Domain>,
    reader: Reader<T, I>,
}

impl<T, I: Inlet<T>> Sink<T, I> {
    /// The domain of this sink.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// The index of the cell that the next [`take`](Self::take) returns.
    #[inline]
    pub fn index(&self) -> u64 {
        self.reader.taken
    }

    /// Returns a view of the sink's next cell, for threads that do not hold the sink.
    pub fn watch(&self) -> Watch<T, I> {
        Watch { slots: Arc::clone(&self.reader.slots), inlet: PhantomData }
    }

    /// Whether the next cell can be taken.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.reader.is_ready()
    }

    /// Takes the next cell. Its index counts in the window until [`release`](Self::release).
    #[inline]
    pub fn take(&mut self) -> Option<Cell<T>> {
        self.reader.take()
    }

    /// Gives back every index whose cell was taken. The caller must wake the source if it waits for room.
    #[inline]
    pub fn release(&self) {
        self.domain.release(self.reader.taken);
    }
}
