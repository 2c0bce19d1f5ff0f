//! The ports of serial stages: one writes a lane in index order, and one reads a lane in index order.

use super::cell::Cell;
use super::domain::Domain;
use super::slots::Slots;
use super::turn::Turn;
use crate::mutant::Mutant;
use crate::sync::{Arc, Ordering};

/// The ordering with which a cell is committed. The mutant takes it away, to show that a model notices: scripts/mutants.md.
const RELAXED_COMMIT: Mutant = Mutant("relaxed_commit");

/// The writing end of a lane that one serial stage fills in index order.
#[derive(Debug)]
pub struct Writer<T> {
    /// The number of the lane's domain.
    domain: u64,
    slots: Arc<Slots<T>>,
    /// Every index below this one was put. `slots.commit` has the same value, for readers.
    put: u64,
}

impl<T> Writer<T> {
    pub(super) fn new(domain: u64, slots: Arc<Slots<T>>) -> Self {
        Self { domain, slots, put: 0 }
    }

    /// Stores a cell at the index of a turn, uses up the turn, and publishes the cell.
    ///
    /// # Panics
    /// If the turn is used up, belongs to another domain, or is not for the index after the last one that was
    /// put.
    // The kind of the cell is mostly known where this is called.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put(&mut self, turn: &mut Turn, cell: Cell<T>) {
        turn.close(self.domain, self.put);
        // SAFETY: the turn was the only place of index `put`, and the lane has one writer, so no other thread
        // writes the slot for this index. The slot's previous index was released (the invariant of `Turn`),
        // so its reader has taken the cell. That happened before this index was created, and so before this
        // turn was opened.
        unsafe { self.slots.write(self.put, cell, Ordering::Relaxed) };
        self.put += 1;
        let order = if RELAXED_COMMIT.is_on() { Ordering::Relaxed } else { Ordering::Release };
        self.slots.commit.store(self.put, order);
    }
}

/// The reading end of a lane whose reader is not chosen yet. The lane's writer is serial.
#[derive(Debug)]
pub struct Committed<T> {
    pub(super) domain: Arc<Domain>,
    pub(super) slots: Arc<Slots<T>>,
}

/// The reading end of a lane whose writer is a [`Putter`](super::Putter). Only a serial port can read it.
#[derive(Debug)]
pub struct Stamped<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
}

impl<T> Committed<T> {
    pub(super) fn new(domain: Arc<Domain>, slots: Arc<Slots<T>>) -> Self {
        Self { domain, slots }
    }

    /// The domain of this lane.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Creates the port of a serial stage that reads the lane.
    pub fn reader(self) -> Reader<T> {
        Reader::new(self.domain.id, self.slots, Signal::Commit)
    }
}

impl Domain {
    /// Creates a lane whose writer is serial. Returns its writing end and its reading end.
    pub fn lane<T: Send>(domain: &Arc<Self>) -> (Writer<T>, Committed<T>) {
        let slots = Arc::new(Slots::new(domain.window() as usize));
        (Writer::new(domain.id, Arc::clone(&slots)), Committed::new(Arc::clone(domain), slots))
    }
}

impl<T> Stamped<T> {
    pub(super) fn new(domain: Arc<Domain>, slots: Arc<Slots<T>>) -> Self {
        Self { domain, slots }
    }

    /// The domain of this lane.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Creates the port of a serial stage that reads the lane.
    pub fn reader(self) -> Reader<T> {
        Reader::new(self.domain.id, self.slots, Signal::Stamp)
    }
}

/// How a reader learns that an index was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    /// By the writer's counter, because the writer is serial.
    Commit,
    /// By the stamp of each slot, because the writers are several threads.
    Stamp,
}

impl Signal {
    /// The end of what is known to be put: `next` if index `next` is not put yet, and a higher index if it
    /// is. Every index below `next` was put before.
    #[inline]
    fn put<T>(self, slots: &Slots<T>, next: u64) -> u64 {
        match self {
            Signal::Commit => slots.commit.load(Ordering::Acquire),
            Signal::Stamp => next + u64::from(slots.is_stamped(next)),
        }
    }
}

/// The reading end of a lane. It takes the lane's cells in index order.
#[derive(Debug)]
pub struct Reader<T> {
    slots: Arc<Slots<T>>,
    signal: Signal,
    /// Every index below this one was taken. `slots.taken` has the same value, for other threads to read.
    taken: u64,
    /// Every index below this one is known to be put. `taken <= put`.
    put: u64,
    /// Open for index `taken - 1` until that is used up.
    turn: Turn,
}

impl<T> Reader<T> {
    fn new(domain: u64, slots: Arc<Slots<T>>, signal: Signal) -> Self {
        Self { slots, signal, taken: 0, put: 0, turn: Turn::closed(domain) }
    }

    /// The index of the cell that the next [`take`](Self::take) returns.
    #[inline]
    pub fn next(&self) -> u64 {
        self.taken
    }

    /// Returns a view of the reader's next cell, for threads that do not hold the reader.
    pub fn watch(&self) -> Watch<T> {
        Watch { slots: Arc::clone(&self.slots), signal: self.signal }
    }

    /// Whether the next cell can be taken.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        if self.put == self.taken {
            self.put = self.signal.put(&self.slots, self.taken);
        }
        self.put > self.taken
    }

    /// Takes the next cell, and opens a turn for its index. Returns `None` if the cell is not put yet, or if
    /// the previous turn is not used up.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take(&mut self) -> Option<(&mut Turn, Cell<T>)> {
        if self.turn.is_open() || !self.is_ready() {
            return None;
        }
        let index = self.taken;
        self.taken += 1;
        self.slots.taken.store(self.taken, Ordering::Relaxed);
        // SAFETY: the lane has one reader, `taken` passes each index once, and the counter or the stamp that
        // says that the index was put was loaded with acquire.
        let cell = unsafe { self.slots.take(index) };
        self.turn.open(index);
        Some((&mut self.turn, cell))
    }

    /// The turn that was last opened.
    #[inline]
    pub fn turn(&mut self) -> &mut Turn {
        &mut self.turn
    }
}

/// A view of a lane's next cell from outside. It tells whether the serial reader would find a cell.
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

    /// Whether the reader's next cell can be taken. The answer may be outdated: the reader may have taken it
    /// already.
    #[inline]
    pub fn is_ready(&self) -> bool {
        let next = self.slots.taken.load(Ordering::Relaxed);
        self.signal.put(&self.slots, next) > next
    }
}
