//! How many items may be under way, and in one batch.

use std::sync::atomic::{AtomicUsize, Ordering};

/// So many items may be under way, and as many may wait before the first stage, if they own memory: images, or
/// blocks of a file...
const OWNERS: usize = 64;
/// ... and if they own none at most so many...
const ITEMS: usize = 4_096;
/// ... of at most so many bytes together...
const BYTES: usize = 64 << 10;
/// ... but a worker has at least so many.
const ITEMS_A_WORKER: usize = 16;

/// A batch has at most so many items, and a worker has room for [`ITEMS_A_WORKER`] such batches.
const LONGEST: usize = 64;

/// How many items may be under way in the stages: known when the last stage has joined.
#[derive(Debug)]
pub(super) struct Room {
    items: AtomicUsize,
    longest: AtomicUsize,
}

impl Room {
    /// The weight of as many items as there is room for.
    pub(super) const WHOLE: u64 = 1 << 48;

    /// Room for items of `size` bytes.
    pub(super) fn new(workers: usize, own_memory: bool, size: usize) -> Self {
        let room = Self { items: AtomicUsize::new(0), longest: AtomicUsize::new(0) };
        room.narrow(workers, own_memory, size);
        room
    }

    /// It is to be room for items of `size` bytes.
    pub(super) fn narrow(&self, workers: usize, own_memory: bool, size: usize) {
        let most = if own_memory { OWNERS } else { ITEMS.min(BYTES / size.max(1)) };
        let least = ITEMS_A_WORKER * workers;
        let items = most.max(least);
        self.items.store(items, Ordering::Relaxed);
        self.longest.store((items / least).min(LONGEST), Ordering::Relaxed);
    }

    /// How many items there is room for.
    pub(super) fn items(&self) -> usize {
        self.items.load(Ordering::Relaxed)
    }

    /// How many items a batch may have.
    pub(super) fn longest(&self) -> usize {
        self.longest.load(Ordering::Relaxed)
    }

    /// How many batches of any length there is room for.
    pub(super) fn batches(&self) -> usize {
        self.items() / self.longest()
    }

    /// The weight of a batch of `items`: while the batches under way weigh less than [`WHOLE`](Self::WHOLE), there is
    /// room for one more of any length.
    pub(super) fn weight(&self, items: usize) -> u64 {
        items as u64 * Self::WHOLE.div_ceil((self.items() - self.longest() + 1) as u64)
    }
}
