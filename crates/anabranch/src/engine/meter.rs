//! What a reported run measures of each node. Without a report there are no meters.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of one node. All are raised a few times a claim or a serving, never once an item.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    items: AtomicU64,
    busy: AtomicU64,
    samples: AtomicU64,
    occupancy: AtomicU64,
    fullest: AtomicU64,
}

/// What a meter showed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading {
    /// Items that the node has taken through.
    pub(crate) items: u64,
    /// Nanoseconds that threads have spent in it.
    pub(crate) busy: u64,
    /// The mean of the items that were waiting before it, and the most.
    pub(crate) occupancy: f64,
    pub(crate) fullest: u64,
}

impl Meter {
    /// Adds `items` that took a thread `nanos`.
    pub(crate) fn add(&self, items: u64, nanos: u64) {
        self.items.fetch_add(items, Ordering::Relaxed);
        self.busy.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Notes that `waiting` items were before the node.
    pub(crate) fn sample(&self, waiting: u64) {
        self.samples.fetch_add(1, Ordering::Relaxed);
        self.occupancy.fetch_add(waiting, Ordering::Relaxed);
        self.fullest.fetch_max(waiting, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Reading {
        let samples = self.samples.load(Ordering::Relaxed);
        Reading {
            items: self.items.load(Ordering::Relaxed),
            busy: self.busy.load(Ordering::Relaxed),
            occupancy: self.occupancy.load(Ordering::Relaxed) as f64 / samples.max(1) as f64,
            fullest: self.fullest.load(Ordering::Relaxed),
        }
    }
}
