//! How many items may be in a pipeline, and in one batch.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many items may be in the stages, and wait before the first one, if items own memory. Such items are
/// often images or blocks of a file.
const OWNING_ITEMS: usize = 64;
/// How many items may be in the stages at most if items own no memory.
const MOST_ITEMS: usize = 4_096;
/// How many bytes these items may have together.
const MOST_BYTES: usize = 64 << 10;
/// There is room for at least this many items for each worker.
const ITEMS_A_WORKER: usize = 16;

/// The most items in a batch. There is room for [`ITEMS_A_WORKER`] batches for each worker.
const LONGEST_BATCH_ITEMS: usize = 64;

/// How many items may be in the stages. It is final when the last stage has joined.
#[derive(Debug)]
pub(super) struct Room {
    items: AtomicUsize,
    longest: AtomicUsize,
}

impl Room {
    /// The weight of as many items as there is room for.
    pub(super) const WHOLE: u64 = 1 << 48;

    /// Creates the room for items of `size` bytes.
    pub(super) fn new(workers: usize, own_memory: bool, size: usize) -> Self {
        let room = Self { items: AtomicUsize::new(0), longest: AtomicUsize::new(0) };
        room.narrow(workers, own_memory, size);
        room
    }

    /// Adapts the room to items of `size` bytes.
    pub(super) fn narrow(&self, workers: usize, own_memory: bool, size: usize) {
        let most = if own_memory { OWNING_ITEMS } else { MOST_ITEMS.min(MOST_BYTES / size.max(1)) };
        let least = ITEMS_A_WORKER * workers;
        let items = most.max(least);
        self.items.store(items, Ordering::Relaxed);
        self.longest.store((items / least).min(LONGEST_BATCH_ITEMS), Ordering::Relaxed);
    }

    /// How many items there is room for.
    pub(super) fn items(&self) -> usize {
        self.items.load(Ordering::Relaxed)
    }

    /// How many items a batch may have.
    pub(super) fn longest(&self) -> usize {
        self.longest.load(Ordering::Relaxed)
    }

    /// How many batches there is room for, whatever their lengths are.
    pub(super) fn batches(&self) -> usize {
        self.items() / self.longest()
    }

    /// The weight of a batch of `items`. While the batches in the stages weigh less than
    /// [`WHOLE`](Self::WHOLE) together, there is room for one more batch of any length.
    pub(super) fn weight(&self, items: usize) -> u64 {
        items as u64 * Self::WHOLE.div_ceil((self.items() - self.longest() + 1) as u64)
    }
}
