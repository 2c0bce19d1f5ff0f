//! How many items may be in a stream of posted items, and in one batch.

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

/// How many items may wait for each worker while they are not known to be quick. A worker takes one at a time then, and
/// each of them may own much memory.
const WAITING_A_WORKER: usize = 4;

/// The most items in a batch. There is room for 16 batches for each worker.
const LONGEST_BATCH_ITEMS: usize = 64;

/// How long a worker would take for the items in the stages, in nanoseconds, if the room depends on their pace.
const ROOM_NS: u64 = 4_000_000;

/// How many items a batch may have, if there is room for `items`.
fn longest_batch(workers: usize, items: usize) -> usize {
    (items / (ITEMS_A_WORKER * workers)).clamp(1, LONGEST_BATCH_ITEMS)
}

/// How many items may be in the stages. It is final when the last stage has joined.
#[derive(Debug)]
pub struct Room {
    items: AtomicUsize,
    longest: AtomicUsize,
    /// How the room depends on the pace of the items, if it does.
    by_pace: Option<ByPace>,
}

#[derive(Debug)]
struct ByPace {
    workers: usize,
    /// For how many items there is room whatever they cost.
    least: usize,
    /// For how many items there is room at most.
    most: usize,
}

impl Room {
    /// The weight of as many items as there is room for.
    pub(crate) const WHOLE: u64 = 1 << 48;

    /// Creates the room for items of `size` bytes.
    pub(crate) fn new(workers: usize, own_memory: bool, size: usize) -> Self {
        let room = Self { items: AtomicUsize::new(0), longest: AtomicUsize::new(0), by_pace: None };
        room.narrow(workers, own_memory, size);
        room
    }

    /// Creates the room for `least` items, or for up to `most` of items that are known to be quick. An item that is
    /// processed quickly can hardly own much memory, since it takes time to fill and to read. So there is room for as
    /// many items as take a worker [`ROOM_NS`] together. At most 4 other items a worker wait before the first stage.
    ///
    /// # Panics
    /// If a number is 0, or `least` is above `most`.
    pub fn between(workers: usize, least: usize, most: usize) -> Self {
        assert!(workers > 0 && least > 0, "there must be room for 1 item or more, and 1 worker or more");
        assert!(least <= most, "room for {least} to {most} items");
        let by_pace = Some(ByPace { workers, least, most });
        let longest = longest_batch(workers, least);
        Self { items: AtomicUsize::new(least), longest: AtomicUsize::new(longest), by_pace }
    }

    /// Creates the room for `items` items that travel one by one.
    ///
    /// # Panics
    /// If `items` is 0.
    pub fn one_by_one(items: usize) -> Self {
        assert!(items > 0, "there must be room for 1 item or more");
        Self { items: AtomicUsize::new(items), longest: AtomicUsize::new(1), by_pace: None }
    }

    /// Adapts the room to items that take a worker `cost_ns`, or are of unknown cost. Returns for how many items there
    /// is room now, if that has changed.
    pub(super) fn adapt(&self, cost_ns: Option<u64>) -> Option<usize> {
        let ByPace { workers, least, most } = *self.by_pace.as_ref()?;
        let items = match cost_ns {
            Some(cost) => ((ROOM_NS / cost.max(1)) as usize).clamp(least, most),
            None => least,
        };
        self.longest.store(longest_batch(workers, items), Ordering::Relaxed);
        (self.items.swap(items, Ordering::Relaxed) != items).then_some(items)
    }

    /// Adapts the room to items of `size` bytes.
    pub(crate) fn narrow(&self, workers: usize, own_memory: bool, size: usize) {
        let most = if own_memory { OWNING_ITEMS } else { MOST_ITEMS.min(MOST_BYTES / size.max(1)) };
        let least = ITEMS_A_WORKER * workers;
        let items = most.max(least);
        self.items.store(items, Ordering::Relaxed);
        self.longest.store(longest_batch(workers, items), Ordering::Relaxed);
    }

    /// How many items there is room for.
    pub fn items(&self) -> usize {
        self.items.load(Ordering::Relaxed)
    }

    /// How many items may wait before the first stage.
    pub(super) fn waiting(&self) -> usize {
        match self.by_pace {
            Some(ByPace { workers, least, most }) if least < most && self.items() == least => {
                least.min(WAITING_A_WORKER * workers)
            }
            _ => self.items(),
        }
    }

    /// The largest number of items that there will be room for.
    pub(super) fn most_items(&self) -> usize {
        self.by_pace.as_ref().map_or_else(|| self.items(), |by_pace| by_pace.most)
    }

    /// How many items a batch may have.
    pub(crate) fn longest(&self) -> usize {
        self.longest.load(Ordering::Relaxed)
    }

    /// How many batches there is room for, whatever their lengths are.
    pub(crate) fn batches(&self) -> usize {
        self.items() / self.longest()
    }

    /// The weight of a batch of `items`. While the batches in the stages weigh less than
    /// [`WHOLE`](Self::WHOLE) together, there is room for one more batch of any length.
    pub(crate) fn weight(&self, items: usize) -> u64 {
        items as u64 * Self::WHOLE.div_ceil((self.items() - self.longest() + 1) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_as_many_items_as_take_four_milliseconds() {
        let room = Room::between(2, 32, 2_048);
        assert_eq!((room.items(), room.longest(), room.waiting()), (32, 1, 8));
        assert_eq!((room.adapt(Some(100)), room.longest()), (Some(2_048), 64));
        assert_eq!(room.waiting(), 2_048);
        assert_eq!((room.adapt(Some(40_000)), room.longest()), (Some(100), 3));
        assert_eq!((room.adapt(Some(40_000)), room.longest()), (None, 3));
        assert_eq!((room.adapt(Some(u64::MAX)), room.longest(), room.waiting()), (Some(32), 1, 8));
        assert_eq!(room.most_items(), 2_048);
    }

    #[test]
    fn of_a_fixed_number_all_may_wait() {
        assert_eq!(Room::between(2, 32, 32).waiting(), 32);
        assert_eq!(Room::between(8, 3, 300).waiting(), 3);
    }

    #[test]
    fn single_items_stay_single() {
        let room = Room::one_by_one(5);
        assert_eq!((room.adapt(Some(1)), room.items(), room.longest()), (None, 5, 1));
    }
}
