//! The counters of one node. Each thread has its own on its track; they are raised a few times a claim or a serving.

use std::sync::atomic::{AtomicBool, Ordering};

/// A piece of work of at least so many nanoseconds may have waited for something: a timer, a disk, a network.
const MAY_WAIT: u64 = 50_000;

/// What went through a node in one piece of work.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Indices that it took.
    pub(crate) cells: u64,
    /// Items that it took; a source, that it gave.
    pub(crate) items: u64,
    /// Items that it gave.
    pub(crate) given: u64,
}

/// What was counted of one node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading {
    pub(crate) tally: Tally,
    /// Nanoseconds that threads have spent in the node.
    pub(crate) spent: u64,
    /// Nanoseconds of these in which they had a processor.
    pub(crate) busy: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, other: Tally) {
        self.cells += other.cells;
        self.items += other.items;
        self.given += other.given;
    }
}

impl Reading {
    pub(crate) fn add(&mut self, other: Reading) {
        self.tally.add(other.tally);
        self.spent += other.spent;
        self.busy += other.busy;
    }
}

/// What all threads share of one node: how long its work takes.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// The last piece of work was too short for a wait.
    is_short: AtomicBool,
}

impl Meter {
    /// Notes what one piece of work took.
    pub(crate) fn note(&self, nanos: u64) {
        let is_short = nanos < MAY_WAIT;
        if self.is_short.load(Ordering::Relaxed) != is_short {
            self.is_short.store(is_short, Ordering::Relaxed);
        }
    }

    /// Whether a piece of work takes so long that it is worth asking how much of it needed a processor.
    #[inline]
    pub(crate) fn may_wait(&self) -> bool {
        !self.is_short.load(Ordering::Relaxed)
    }
}
