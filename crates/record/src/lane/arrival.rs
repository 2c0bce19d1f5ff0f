//! Lanes that are read in the order of arrival: the writers tell the reader which claims they have begun to put.

use std::collections::VecDeque;
use std::ops::Range;

use super::cell::{Cell, Stop};
use super::domain::{Domain, Exit};
use super::slots::Slots;
use crate::mutant::Mutant;
use crate::ring::Ring;
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering, Padded};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const RELAXED_ARRIVAL: Mutant = Mutant("relaxed_arrival");

/// The runs of indices of a lane, in the order in which their first cells were put.
///
/// A *run* is the range of indices of one claim, which one thread puts in index order. The thread announces the run
/// when it has put the first cell. The stamps of the slots tell the reader about the others, so only one atomic
/// addition is made for a run.
///
/// Invariant: an entry holds a run, or 0 while it is unused. A thread that announces a run takes the next position
/// from `tail` and writes the entry at that position. The reader clears an entry before it gives an index of its run
/// back. A run has at least one index and at most `window` indices are in use at a time, so an entry is reused only
/// after it was cleared.
#[derive(Debug)]
pub(super) struct Arrivals {
    entries: Ring<Entry>,
    tail: Padded<AtomicU64>,
    reader: Padded<Reader>,
    /// The next index of each run that the reader has begun and not ended, from the first slot of the ring on. Only
    /// the reader writes them; others may look.
    begun: Ring<AtomicU64>,
}

/// A run that was announced.
#[derive(Debug)]
struct Entry {
    /// 1 + the first index, or 0.
    first: AtomicU64,
    /// The index behind the last one.
    end: AtomicU64,
}

/// The state that the reader shows other threads. Only the reader writes it.
#[derive(Debug)]
struct Reader {
    /// Every entry below this position was read.
    head: AtomicU64,
    /// How many runs were begun and not ended.
    begun: AtomicU64,
    /// How many cells were taken.
    taken: AtomicU64,
    /// The cell that ends the stream has arrived, and so have all cells before it.
    is_complete: AtomicBool,
}

impl Arrivals {
    fn new(window: usize) -> Self {
        let unused = || Entry { first: AtomicU64::new(0), end: AtomicU64::new(0) };
        Self {
            entries: Ring::new(window, unused),
            tail: Padded::new(AtomicU64::new(0)),
            reader: Padded::new(Reader {
                head: AtomicU64::new(0),
                begun: AtomicU64::new(0),
                taken: AtomicU64::new(0),
                is_complete: AtomicBool::new(false),
            }),
            begun: Ring::new(window, || AtomicU64::new(0)),
        }
    }

    /// Announces the run of the indices from `first` to the one before `end`. The caller has put the cell of `first`, and
    /// puts the others in their order.
    #[inline]
    pub(super) fn arrive(&self, first: u64, end: u64) {
        let position = self.tail.fetch_add(1, Ordering::Relaxed);
        let entry = self.entries.slot(position);
        entry.end.store(end, Ordering::Relaxed);
        let order = if RELAXED_ARRIVAL.is_on() { Ordering::Relaxed } else { Ordering::Release };
        entry.first.store(first + 1, order);
    }

    /// Whether there is a run behind those that were read, or all is complete.
    fn has_more(&self, head: u64) -> bool {
        self.entries.slot(head).first.load(Ordering::Acquire) != 0
            || self.reader.is_complete.load(Ordering::Relaxed)
    }
}

/// The reading end, in the order of arrival, of a lane whose writer is a [`Putter`](super::Putter).
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
            count: 0,
            runs: Vec::new(),
            current: 0,
            floor: 0,
            done: VecDeque::new(),
            taken: None,
            end: None,
        }
    }
}

/// The last port of a domain without order. It takes cells as they arrive, and those of one run in turn. An index goes back
/// to the source once all lower indices are done as well.
#[derive(Debug)]
pub struct ArrivalSink<T> {
    domain: Arc<Domain>,
    slots: Arc<Slots<T>>,
    arrivals: Arc<Arrivals>,
    /// Every entry below this position was read.
    head: u64,
    /// How many cells were taken.
    count: u64,
    /// The runs that were begun and not ended. `arrivals.begun` has the same next indices.
    runs: Vec<Run>,
    /// The run whose cell was taken last, if it has not ended.
    current: usize,
    /// Every index below this one was given back.
    floor: u64,
    /// The ranges of indices above `floor` that are done, in their order. They do not overlap.
    done: VecDeque<Range<u64>>,
    /// The index whose cell was taken and not yet given back.
    taken: Option<u64>,
    /// The index and the cell that end the stream, if they arrived before the last items.
    end: Option<(u64, Cell<T>)>,
}

/// The rest of a run.
#[derive(Debug)]
struct Run {
    /// Every index of the run below this one was taken.
    next: u64,
    end: u64,
}

impl<T> ArrivalSink<T> {
    /// The domain of this sink.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// How many cells were taken.
    pub fn index(&self) -> u64 {
        self.count
    }

    /// Returns a view of the sink's next cell, for threads that do not hold the sink.
    pub fn watch(&self) -> ArrivalWatch<T> {
        ArrivalWatch { slots: Arc::clone(&self.slots), arrivals: Arc::clone(&self.arrivals) }
    }

    /// Whether a cell can be taken.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.taken.is_none() && (self.stamped_run().is_some() || self.arrivals.has_more(self.head))
    }

    /// Takes a cell that has arrived. The cell that ends the stream comes last.
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
            if cell.stop() == Some(Stop::End) && index != self.floor {
                self.end = Some((index, cell));
            } else {
                self.taken = Some(index);
                return Some(cell);
            }
        }
    }

    /// The run whose next cell was put: that of the last cell, if it is one.
    #[inline]
    fn stamped_run(&self) -> Option<usize> {
        let is_stamped = |run: &Run| self.slots.is_stamped(run.next);
        if self.runs.get(self.current).is_some_and(is_stamped) {
            return Some(self.current);
        }
        self.runs.iter().position(is_stamped)
    }

    /// Begins the run that was announced next.
    #[inline]
    fn begin_run(&mut self) -> Option<usize> {
        let entry = self.arrivals.entries.slot(self.head);
        let next = entry.first.load(Ordering::Acquire).checked_sub(1)?;
        let end = entry.end.load(Ordering::Relaxed);
        entry.first.store(0, Ordering::Relaxed);
        self.head += 1;
        self.arrivals.reader.head.store(self.head, Ordering::Relaxed);
        self.runs.push(Run { next, end });
        self.arrivals.reader.begun.store(self.runs.len() as u64, Ordering::Relaxed);
        Some(self.runs.len() - 1)
    }

    #[inline]
    fn take_arrived(&mut self) -> Option<(u64, Cell<T>)> {
        self.current = self.stamped_run().or_else(|| self.begin_run())?;
        let run = &mut self.runs[self.current];
        let index = run.next;
        debug_assert!(
            self.slots.is_stamped(index),
            "the first cell of a run was put before it was announced"
        );
        run.next += 1;
        let reader = &self.arrivals.reader;
        if run.next < run.end {
            self.arrivals.begun.slot(self.current as u64).store(run.next, Ordering::Relaxed);
        } else {
            self.runs.swap_remove(self.current);
            if let Some(moved) = self.runs.get(self.current) {
                self.arrivals.begun.slot(self.current as u64).store(moved.next, Ordering::Relaxed);
            }
            reader.begun.store(self.runs.len() as u64, Ordering::Relaxed);
        }
        self.count += 1;
        reader.taken.store(self.count, Ordering::Relaxed);
        // SAFETY: the stamp of the index was loaded with acquire, or the entry of its run, which was written after the
        // stamp. Runs are claims, which share no index, each is announced once, and `next` passes each index once. This
        // sink is the only reader.
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
        if index != self.floor {
            return self.note(index);
        }
        self.floor += 1;
        while let Some(range) = self.done.front()
            && range.start == self.floor
        {
            self.floor = range.end;
            self.done.pop_front();
        }
        self.domain.release(self.floor);
        if self.end.as_ref().is_some_and(|(index, _)| *index == self.floor) {
            self.arrivals.reader.is_complete.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that `index` is done before a lower one.
    fn note(&mut self, index: u64) {
        match self.done.iter_mut().find(|range| range.end == index) {
            Some(range) => range.end += 1,
            None => {
                let place = self.done.partition_point(|range| range.end < index);
                self.done.insert(place, index..index + 1);
            }
        }
    }
}

/// A view of an [`ArrivalSink`] from outside. It tells whether a cell has arrived.
#[derive(Debug)]
pub struct ArrivalWatch<T> {
    slots: Arc<Slots<T>>,
    arrivals: Arc<Arrivals>,
}

impl<T> ArrivalWatch<T> {
    /// Whether a cell can be taken. The answer may be outdated: the reader may have taken the cell already.
    #[inline]
    pub fn is_ready(&self) -> bool {
        let Arrivals { reader, begun, .. } = &*self.arrivals;
        let is_stamped = |at| self.slots.is_stamped(begun.slot(at).load(Ordering::Relaxed));
        (0..reader.begun.load(Ordering::Relaxed)).any(is_stamped)
            || self.arrivals.has_more(reader.head.load(Ordering::Relaxed))
    }

    /// How many cells the reader has taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.arrivals.reader.taken.load(Ordering::Relaxed)
    }
}
