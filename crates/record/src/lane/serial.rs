//! The ports of serial stages and of the sink, which take cells in index order.

use std::marker::PhantomData;

use super::arrival::Arrived;
use super::cell::Cell;
use super::domain::Domain;
use super::hop::Hop;
use super::slots::Slots;
use crate::sync::{Arc, Ordering};

/// The reading end of a lane whose reader is not chosen yet. Its writer is serial: a source or a stage.
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

/// A reading end that a serial port can take: [`Committed`] or [`Stamped`].
pub trait Inlet<T>: sealed::Sealed + Sized {
    /// Makes the port of a serial stage that turns `T` into `U`, and the reading end of the lane behind it.
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

    /// Makes the port of the sink.
    fn sink(self) -> Sink<T, Self> {
        let (domain, slots) = self.parts();
        Sink { reader: Reader::new(Arc::clone(slots)), domain: Arc::clone(domain) }
    }

    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn parts(&self) -> (&Arc<Domain>, &Arc<Slots<T>>);

    /// One more than the greatest index that is known to be published, given that `next` is not known to be:
    /// `next` if it is not published, more if it is.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn published(slots: &Slots<T>, next: u64) -> u64;
}

impl<T> Committed<T> {
    pub(super) fn new(domain: Arc<Domain>, slots: Arc<Slots<T>>) -> Self {
        Self { domain, slots }
    }

    /// The domain that the lane is part of.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Makes the port of a parallel stage that turns `T` into `U`, and the reading end of the lane behind it.
    pub fn hop<U: Send>(self) -> (Hop<T, U>, Stamped<U>) {
        let output = Arc::new(Slots::new(self.domain.window() as usize));
        let hop = Hop::new(Arc::clone(&self.domain), self.slots, Arc::clone(&output), None);
        (hop, Stamped { domain: self.domain, slots: output })
    }

    /// As [`hop`](Self::hop), with a lane behind it that is read in the order of arrival.
    pub fn unordered_hop<U: Send>(self) -> (Hop<T, U>, Arrived<U>) {
        let output = Arc::new(Slots::new(self.domain.window() as usize));
        let (lane, arrivals) = Arrived::new(Arc::clone(&self.domain), Arc::clone(&output));
        let hop = Hop::new(self.domain, self.slots, output, Some(arrivals));
        (hop, lane)
    }

    /// Makes the port of a serial stage: see [`Inlet::stage`].
    pub fn stage<U: Send>(self) -> (Stage<T, U, Self>, Committed<U>) {
        Inlet::stage(self)
    }

    /// Makes the port of the sink.
    pub fn sink(self) -> Sink<T, Self> {
        Inlet::sink(self)
    }
}

impl<T> Stamped<T> {
    /// Makes the port of a serial stage: see [`Inlet::stage`].
    pub fn stage<U: Send>(self) -> (Stage<T, U, Self>, Committed<U>) {
        Inlet::stage(self)
    }

    /// Makes the port of the sink.
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

/// The one who takes a lane's cells in index order.
#[derive(Debug)]
struct Reader<T, I> {
    slots: Arc<Slots<T>>,
    /// Indices below this were taken: the same as `slots.taken`, which others may read.
    taken: u64,
    /// Indices below this are known to be published. `taken <= published`.
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
        // SAFETY: there is one reader, `taken` passes each index once, and `published` above it was read with
        // acquire.
        Some(unsafe { self.slots.take(index) })
    }
}

/// Looks at the head of a lane from outside: whether its serial reader would find something.
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

    /// Whether the reader's next cell is published. May say yes a moment too long, while the reader moves on.
    #[inline]
    pub fn is_ready(&self) -> bool {
        let next = self.slots.taken.load(Ordering::Relaxed);
        I::published(&self.slots, next) > next
    }
}

/// The port of a serial stage: takes cells in index order and puts one for each, at the same index.
#[derive(Debug)]
pub struct Stage<T, U, I> {
    domain: Arc<Domain>,
    reader: Reader<T, I>,
    output: Arc<Slots<U>>,
    /// Indices below this were put. `reader.taken - put` is 0 or 1.
    put: u64,
}

impl<T, U, I: Inlet<T>> Stage<T, U, I> {
    /// The domain that this stage is part of.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// The index that the next [`put`](Self::put) fills.
    #[inline]
    pub fn index(&self) -> u64 {
        self.put
    }

    /// A view on the stage's head for threads that do not hold the stage.
    pub fn watch(&self) -> Watch<T, I> {
        Watch { slots: Arc::clone(&self.reader.slots), inlet: PhantomData }
    }

    /// Whether the next cell is there.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.reader.is_ready()
    }

    /// Takes the next cell. `None` if it is not there yet, or while the last cell taken was not put.
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
    /// If no cell has been taken since the last call.
    #[inline]
    pub fn put(&mut self, cell: Cell<U>) {
        assert!(self.put != self.reader.taken, "take a cell before putting its result");
        // SAFETY: one stage writes this lane and `put` passes each index once. The slot's last user was taken,
        // as `Source::put` argues; the lanes before this one carry that order to us.
        unsafe { self.output.write(self.put, cell, Ordering::Relaxed) };
        self.put += 1;
        self.output.commit.store(self.put, Ordering::Release);
    }
}

/// The last port of a domain: takes cells in index order and gives their indices back to the source.
#[derive(Debug)]
pub struct Sink<T, I> {
    domain: Arc<Domain>,
    reader: Reader<T, I>,
}

impl<T, I: Inlet<T>> Sink<T, I> {
    /// The domain that this is the sink of.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// The index of the cell that the next [`take`](Self::take) gives.
    #[inline]
    pub fn index(&self) -> u64 {
        self.reader.taken
    }

    /// A view on the sink's head for threads that do not hold the sink.
    pub fn watch(&self) -> Watch<T, I> {
        Watch { slots: Arc::clone(&self.reader.slots), inlet: PhantomData }
    }

    /// Whether the next cell is there.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.reader.is_ready()
    }

    /// Takes the next cell. It counts in the window until [`release`](Self::release).
    #[inline]
    pub fn take(&mut self) -> Option<Cell<T>> {
        self.reader.take()
    }

    /// Gives back every index whose cell has been taken. Who may have waited for the room is the caller's
    /// affair.
    #[inline]
    pub fn release(&self) {
        self.domain.release(self.reader.taken);
    }
}
