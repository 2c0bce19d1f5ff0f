//! The ports of serial stages: one that writes a lane in the order of the indices, and one that reads it so.

use super::arrival::Arrived;
use super::cell::Cell;
use super::domain::Domain;
use super::hop::Hop;
use super::slots::Slots;
use super::turn::Turn;
use crate::sync::{Arc, Ordering};

/// The writing end of a lane that one serial stage fills in the order of the indices.
#[derive(Debug)]
pub struct Writer<T> {
    /// The number of the lane's domain.
    domain: u64,
    slots: Arc<Slots<T>>,
    /// Indices below this were put: the same as `slots.commit`, which readers look at.
    put: u64,
}

impl<T> Writer<T> {
    pub(super) fn new(domain: u64, slots: Arc<Slots<T>>) -> Self {
        Self { domain, slots, put: 0 }
    }

    /// Stores a cell at the index of a turn, uses the turn up, and shows the cell to the reader.
    ///
    /// # Panics
    /// If the turn is used up, is of another domain, or is not for the index after the one that was put last.
    #[inline]
    pub fn put(&mut self, turn: &mut Turn, cell: Cell<T>) {
        turn.close(self.domain, self.put);
        // SAFETY: the turn was the only place of index `put`, and there is one writer, so nobody else writes the slot
        // for this index. The index that used the slot before was released (the invariant of `Turn`), so its reader has
        // taken it; that came before this index was made, which came before this turn was opened.
        unsafe { self.slots.write(self.put, cell, Ordering::Relaxed) };
        self.put += 1;
        #[cfg(not(mutant = "relaxed_commit"))]
        let order = Ordering::Release;
        #[cfg(mutant = "relaxed_commit")]
        let order = Ordering::Relaxed;
        self.slots.commit.store(self.put, order);
    }
}

/// The reading end of a lane whose reader is not chosen yet, and whose writer is serial.
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

    /// Makes the port of a serial stage, which reads the lane.
    pub fn reader(self) -> Reader<T> {
        Reader::new(self.domain.id, self.slots, Signal::Commit)
    }
}

impl<T> Stamped<T> {
    /// The domain that the lane is part of.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Makes the port of a serial stage, which reads the lane.
    pub fn reader(self) -> Reader<T> {
        Reader::new(self.domain.id, self.slots, Signal::Stamp)
    }
}

/// How a reader sees that an index was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    /// By the writer's counter: the writer is serial.
    Commit,
    /// By the stamp of each slot: the writer is a hop.
    Stamp,
}

impl Signal {
    /// One more than the greatest index that is known to be put, given that `next` is not known to be: `next` if it
    /// is not, more if it is.
    #[inline]
    fn put<T>(self, slots: &Slots<T>, next: u64) -> u64 {
        match self {
            Signal::Commit => slots.commit.load(Ordering::Acquire),
            Signal::Stamp => next + u64::from(slots.is_stamped(next)),
        }
    }
}

/// The reading end of a lane: takes its cells in the order of the indices.
#[derive(Debug)]
pub struct Reader<T> {
    slots: Arc<Slots<T>>,
    signal: Signal,
    /// Indices below this were taken: the same as `slots.taken`, which others may read.
    taken: u64,
    /// Indices below this are known to be put. `taken <= put`.
    put: u64,
    /// Open for index `taken - 1` until that is used up.
    turn: Turn,
}

impl<T> Reader<T> {
    fn new(domain: u64, slots: Arc<Slots<T>>, signal: Signal) -> Self {
        Self { slots, signal, taken: 0, put: 0, turn: Turn::closed(domain) }
    }

    /// The index of the cell that the next [`take`](Self::take) gives.
    #[inline]
    pub fn next(&self) -> u64 {
        self.taken
    }

    /// A view on the reader's head for threads that do not hold the reader.
    pub fn watch(&self) -> Watch<T> {
        Watch { slots: Arc::clone(&self.slots), signal: self.signal }
    }

    /// Whether the next cell is there.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        if self.put == self.taken {
            self.put = self.signal.put(&self.slots, self.taken);
        }
        self.put > self.taken
    }

    /// Takes the next cell, and opens a turn for its index. `None` if the cell is not there yet, or while the turn that
    /// was opened last is not used up.
    #[inline]
    pub fn take(&mut self) -> Option<(&mut Turn, Cell<T>)> {
        if self.turn.is_open() || !self.is_ready() {
            return None;
        }
        let index = self.taken;
        self.taken += 1;
        self.slots.taken.store(self.taken, Ordering::Relaxed);
        // SAFETY: there is one reader, `taken` passes each index once, and the counter or the stamp that says that it was
        // put was read with acquire.
        let cell = unsafe { self.slots.take(index) };
        self.turn.open(index);
        Some((&mut self.turn, cell))
    }

    /// The turn that was opened last.
    #[inline]
    pub fn turn(&mut self) -> &mut Turn {
        &mut self.turn
    }
}

/// Looks at the head of a lane from outside: whether its serial reader would find something.
#[derive(Debug)]
pub struct Watch<T> {
    slots: Arc<Slots<T>>,
    signal: Signal,
}

impl<T> Watch<T> {
    /// How many cells the reader has taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.slots.taken.load(Ordering::Relaxed)
    }

    /// Whether the reader's next cell is there. May say yes a moment too long, while the reader moves on.
    #[inline]
    pub fn is_ready(&self) -> bool {
        let next = self.slots.taken.load(Ordering::Relaxed);
        self.signal.put(&self.slots, next) > next
    }
}
