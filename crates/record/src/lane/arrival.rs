//! Lanes that are read in the order of arrival: the writers tell the reader which index came next.

use std::collections::VecDeque;

use super::cell::{Cell, Stop};
use super::domain::{Domain, Exit};
use super::slots::Slots;
use crate::ring::Ring;
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering, Padded};

/// The indices of a lane, in the order in which they were put.
///
/// Invariant: an entry holds 1 + an index, or 0 while it is unused. A thread that puts an index takes the
/// next position from `tail` and writes the entry at that position. The reader clears an entry before it
/// gives the entry's index back. At most `window` indices are in use at a time, so an entry is reused only
/// after it was cleared.
#[derive(Debug)]
pub(super) struct Arrivals {
    entries: Ring<AtomicU64>,
    tail: Padded<AtomicU64>,
    /// Every entry below this position was read. Only the reader raises it; others may look.
    head: Padded<AtomicU64>,
    /// The cell that ends the stream has arrived, and so have all cells before it.
    is_complete: AtomicBool,
}

impl Arrivals {
    fn new(window: usize) -> Self {
        Self {
            entries: Ring::new(window, || AtomicU64::new(0)),
            tail: Padded::new(AtomicU64::new(0)),
            head: Padded::new(AtomicU64::new(0)),
            is_complete: AtomicBool::new(false),
        }
    }

    /// Announces that slot `index` was written.
    #[inline]
    pub(super) fn arrive(&self, index: u64) {
        let position = self.tail.fetch_add(1, Ordering::Relaxed);
        self.entries.slot(position).store(index + 1, Ordering::Release);
    }

    fn is_ready(&self, head: u64) -> bool {
        self.entries.slot(head).load(Ordering::Acquire) != 0 || self.is_complete.load(Ordering::Relaxed)
    }
}

/// The reading end, in the order of arrival, of a lane whose writer is a hop.
#[derive(Debug)]
pub struct Arrived<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
    arrivals: Arc<Arrivals>,
}

impl<T> Arrived<T> {
    pub(super) fn new(domain: Arc<Domain>, slots: Arc<Slots<T>>) -> (Self, Arc<Arrivals>) {
        let arrivals = Arc::new(Arrivals::new(domain.window() as usize));
        (Self { domain, slots, arrivals: Arc::clone(&arrivals) }, arrivals)
    }

    /// The domain of this lane.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Creates the last port of the domain, which reads the lane and gives indices back. It replaces the
    /// exit.
    ///
    /// # Panics
    /// If the exit belongs to another domain, or has given indices back.
    pub fn sink(self, exit: Exit) -> ArrivalSink<T> {
        assert!(Arc::ptr_eq(exit.domain(), &self.domain), "a lane needs the exit of its own domain");
        assert_eq!(self.domain.released(), 0, "the exit must not have given indices back");
        ArrivalSink {
            domain: self.domain,
            slots: self.slots,
            arrivals: self.arrivals,
            head: 0,
            gone: VecDeque::new(),
            floor: 0,
            taken: None,
            end: None,
        }
    }
}

/// The last port of a domain without order. It takes cells as they arrive. An index goes back to the source
/// once all lower indices are done as well.
#[derive(Debug)]
pub struct ArrivalSink<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
    arrivals: Arc<Arrivals>,
    /// Every entry below this position was read.
    head: u64,
    /// Whether an index is done, for each from `floor` on to the highest that is.
    gone: VecDeque<bool>,
    /// Every index below this one was given back.
    floor: u64,
    /// The index whose cell was taken and not yet given back.
    taken: Option<u64>,
    /// The index and the cell that end the stream, if they arrived before the last items.
    end: Option<(u64, Cell<T>)>,
}

impl<T> ArrivalSink<T> {
    /// The domain of this sink.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How many cells were taken.
    pub fn index(&self) -> u64 {
        self.head
    }

    /// Returns a view of the sink's next cell, for threads that do not hold the sink.
    pub fn watch(&self) -> ArrivalWatch {
        ArrivalWatch { arrivals: Arc::clone(&self.arrivals) }
    }

    /// Whether a cell can be taken.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.taken.is_none() && self.arrivals.is_ready(self.head)
    }

    /// Takes the cell that arrived next. The cell that ends the stream comes last.
    ///
    /// Returns `None` if no cell has arrived, or if the previous one was not [released](Self::release).
    #[inline]
    pub fn take(&mut self) -> Option<Cell<T>> {
        if self.taken.is_some() {
            return None;
        }
        loop {
            if let Some((index, cell)) = self.end.take_if(|(index, _)| *index == self.floor) {
                self.taken = Some(index);
                return Some(cell);
            }
            let (index, cell) = self.take_arrived()?;
            if matches!(cell, Cell::Stop(_, Stop::End)) && index != self.floor {
                self.end = Some((index, cell));
            } else {
                self.taken = Some(index);
                return Some(cell);
            }
        }
    }

    #[inline]
    fn take_arrived(&mut self) -> Option<(u64, Cell<T>)> {
        let entry = self.arrivals.entries.slot(self.head);
        let index = entry.load(Ordering::Acquire).checked_sub(1)?;
        entry.store(0, Ordering::Relaxed);
        self.head += 1;
        self.arrivals.head.store(self.head, Ordering::Relaxed);
        // SAFETY: each index arrives once, and only after its slot was written. This sink is the only reader,
        // and it has cleared the entry, so each index is taken once.
        let cell = unsafe { self.slots.take(index) };
        // SAFETY: as above. The slot belongs to this sink until its index is given back.
        unsafe { self.slots.forget(index) };
        Some((index, cell))
    }

    /// Gives back the index whose cell was taken, and with it those higher indices that are done and were
    /// waiting for it.
    #[inline]
    pub fn release(&mut self) {
        let Some(index) = self.taken.take() else { return };
        let place = (index - self.floor) as usize;
        if place >= self.gone.len() {
            self.gone.resize(place + 1, false);
        }
        self.gone[place] = true;
        let before = self.floor;
        while self.gone.front() == Some(&true) {
            self.gone.pop_front();
            self.floor += 1;
        }
        if self.floor != before {
            self.domain.release(self.floor);
            if self.end.as_ref().is_some_and(|(index, _)| *index == self.floor) {
                self.arrivals.is_complete.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// A view of an [`ArrivalSink`] from outside. It tells whether a cell has arrived.
#[derive(Debug)]
pub struct ArrivalWatch {
    arrivals: Arc<Arrivals>,
}

impl ArrivalWatch {
    /// Whether a cell can be taken. The answer may be outdated: the reader may have taken the cell already.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.arrivals.is_ready(self.arrivals.head.load(Ordering::Relaxed))
    }

    /// How many cells the reader has taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.arrivals.head.load(Ordering::Relaxed)
    }
}
