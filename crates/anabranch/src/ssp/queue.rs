//! The queue before a pipeline's first stage: bounded, filled by posts one by one, emptied a batch at a time.
//!
//! A batch goes through the stages as one, so that what passing costs is shared by its items. It holds what waits, as
//! far as that is quickly done: see [`Pace`].

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anabranch_record::sync::Padded;

use super::room::Room;
use crate::serial::{Pull, Pulled};

/// An item and its number in the order of the posts.
pub(super) type Numbered<T> = (u64, T);

/// Before it parks, the source looks so often for more, if that has paid lately...
const LOOKS: u32 = 32;
/// ... and so often while it has not.
const LEAST_LOOKS: u32 = 1;
/// The pauses between two looks: each look takes a cache line from who posts.
const PAUSES: u32 = 16;

/// What posts and the source share.
#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    emptied: Condvar,
    capacity: usize,
    /// As many as wait in `state`: looked at without the lock.
    waiting: Padded<AtomicUsize>,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    /// No more will be posted.
    has_ended: bool,
    /// Nobody will take any more.
    is_gone: bool,
    source_parks: bool,
    posts_park: usize,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait<'g, T>(condition: &Condvar, state: MutexGuard<'g, State<T>>) -> MutexGuard<'g, State<T>> {
    condition.wait(state).unwrap_or_else(PoisonError::into_inner)
}

/// The side of the posts.
#[derive(Debug)]
pub(super) struct Sender<T>(Arc<Shared<T>>);

/// The side of the source.
#[derive(Debug)]
pub(super) struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// Taken from the queue in one go, and not given yet.
    taken: VecDeque<T>,
    /// The number of the first of them.
    next: u64,
    looks: u32,
    pace: Pace,
    room: Arc<Room>,
}

/// A queue in which as many items wait as there is room for now, those that the source has taken but not given among
/// them. So many workers take what it gives.
pub(super) fn queue<T>(workers: usize, room: Arc<Room>) -> (Sender<T>, Receiver<T>) {
    // Half may wait in the queue while the other half is given.
    let capacity = room.items().div_ceil(2);
    let state = State {
        items: VecDeque::new(),
        has_ended: false,
        is_gone: false,
        source_parks: false,
        posts_park: 0,
    };
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        filled: Condvar::new(),
        emptied: Condvar::new(),
        capacity,
        waiting: Padded(AtomicUsize::new(0)),
    });
    let receiver = Receiver {
        shared: Arc::clone(&shared),
        taken: VecDeque::new(),
        next: 0,
        looks: LEAST_LOOKS,
        pace: Pace::new(workers),
        room,
    };
    (Sender(shared), receiver)
}

impl<T> Sender<T> {
    /// Adds an item; waits while there is no room. Gives it back if nobody will take it.
    pub(super) fn send(&self, item: T) -> Result<(), T> {
        let Sender(shared) = self;
        let mut state = shared.lock();
        while state.items.len() >= shared.capacity && !state.is_gone {
            state.posts_park += 1;
            state = wait(&shared.emptied, state);
            state.posts_park -= 1;
        }
        if state.is_gone {
            return Err(item);
        }
        state.items.push_back(item);
        shared.waiting.0.store(state.items.len(), Ordering::Relaxed);
        let wakes = std::mem::take(&mut state.source_parks);
        drop(state);
        if wakes {
            shared.filled.notify_one();
        }
        Ok(())
    }

    /// Says that no more will be posted.
    pub(super) fn end(&self) {
        let Sender(shared) = self;
        let mut state = shared.lock();
        state.has_ended = true;
        drop(state);
        shared.filled.notify_one();
    }
}

impl<T> Receiver<T> {
    /// Looks for items for a moment before the lock is taken: falling asleep costs a post the waking.
    fn look(&mut self) {
        for _ in 0..self.looks {
            if self.shared.waiting.0.load(Ordering::Relaxed) > 0 {
                self.looks = (2 * self.looks).min(LOOKS);
                return;
            }
            for _ in 0..PAUSES {
                std::hint::spin_loop();
            }
        }
        self.looks = (self.looks / 2).max(LEAST_LOOKS);
    }

    /// Takes all that waits; waits for the first.
    fn refill(&mut self) {
        self.look();
        let mut had_to_wait = false;
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        while state.items.is_empty() && !state.has_ended {
            had_to_wait = true;
            state.source_parks = true;
            state = wait(&shared.filled, state);
        }
        state.source_parks = false;
        std::mem::swap(&mut state.items, &mut self.taken);
        shared.waiting.0.store(0, Ordering::Relaxed);
        let wakes = state.posts_park > 0;
        drop(state);
        if wakes {
            shared.emptied.notify_all();
        }
        self.pace.refilled(self.next, had_to_wait);
    }
}

impl<T: Send> Pull for Receiver<T> {
    type Item = Vec<Numbered<T>>;
    type Error = Infallible;

    fn pull(&mut self) -> Pulled<Vec<Numbered<T>>, Infallible> {
        if self.taken.is_empty() {
            self.refill();
        }
        if self.taken.is_empty() {
            return Pulled::End;
        }
        let waiting = self.taken.len();
        let size = self.pace.batch(waiting).min(self.room.longest()).min(waiting);
        let batch: Vec<_> = (self.next..).zip(self.taken.drain(..size)).collect();
        self.next += batch.len() as u64;
        Pulled::Item(batch)
    }

    fn upper(&self) -> Option<usize> {
        None
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_gone = true;
        let left = std::mem::take(&mut state.items);
        drop(state);
        self.shared.emptied.notify_all();
        drop(left);
    }
}

/// A batch is worth at least so many nanoseconds of a worker, if so much waits...
const LEAST: u64 = 4_000;
/// ... and at most so many.
const MOST: u64 = 20_000;

/// How many items a batch may have, from how quickly the pipeline took those before. That is at most as quick as the
/// workers are, so a batch is rather too short than too long; and it is one item until the first ones are through.
#[derive(Debug)]
struct Pace {
    workers: u64,
    /// When the queue was last emptied, and the number of the first item that was taken then.
    since: Instant,
    first: u64,
    /// Nanoseconds from one item to the next, 0 while not known.
    interval: u64,
}

impl Pace {
    fn new(workers: usize) -> Self {
        Self { workers: workers.max(1) as u64, since: Instant::now(), first: 0, interval: 0 }
    }

    /// The queue was emptied again, all items below `next` being given.
    fn refilled(&mut self, next: u64, had_to_wait: bool) {
        let now = Instant::now();
        if let Some(interval) = ((now - self.since).as_nanos() as u64).checked_div(next - self.first) {
            // Nobody posted for a while, or items have become slow: which, shows when it lasts.
            let most = if had_to_wait && self.interval > 0 { 2 * self.interval } else { u64::MAX };
            self.interval = interval.clamp(1, most);
        }
        (self.since, self.first) = (now, next);
    }

    /// A fair share of the items that wait.
    fn batch(&self, waiting: usize) -> usize {
        if self.interval == 0 {
            return 1;
        }
        let cost = self.interval.saturating_mul(self.workers);
        let share = waiting as u64 / (2 * self.workers);
        share.clamp(LEAST / cost, MOST / cost).max(1) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_one_item_until_items_are_known_to_be_quick_and_a_share_of_what_waits_then() {
        let mut pace = Pace::new(2);
        assert_eq!(pace.batch(1_000), 1);
        pace.interval = 10;
        assert_eq!((pace.batch(10), pace.batch(1_000), pace.batch(10_000)), (200, 250, 1_000));
        pace.interval = 3_000;
        assert_eq!((pace.batch(1), pace.batch(10), pace.batch(1_000)), (1, 2, 3));
        pace.interval = 1_000_000;
        assert_eq!(pace.batch(1_000), 1);
        pace.interval = u64::MAX;
        assert_eq!(pace.batch(1_000), 1);
    }

    #[test]
    fn a_pause_of_the_posts_counts_for_little_and_a_slow_stage_at_once() {
        let ago = |pace: &mut Pace| pace.since = Instant::now() - std::time::Duration::from_millis(100);
        let mut pace = Pace::new(1);
        pace.interval = 10;
        ago(&mut pace);
        pace.refilled(1, true);
        assert_eq!(pace.interval, 20);
        ago(&mut pace);
        pace.refilled(2, false);
        assert!(pace.interval >= 100_000_000);
    }
}
