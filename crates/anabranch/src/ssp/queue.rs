//! The queue before a pipeline's first stage: bounded, filled by posts and emptied a buffer at a time.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::serial::{Pull, Pulled};

/// An item and its number in the order of the posts.
pub(super) type Numbered<T> = (u64, T);

/// Before it parks, the source looks so often for more, if that has paid lately.
const LOOKS: u32 = 400;
/// After so many looks that paid nothing it parks at once, but for a few.
const LEAST_LOOKS: u32 = 8;

/// What posts and the source share.
#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    /// As many as wait in `state`: looked at without the lock.
    waiting: AtomicUsize,
    filled: Condvar,
    emptied: Condvar,
    capacity: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<Numbered<T>>,
    next: u64,
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
    taken: VecDeque<Numbered<T>>,
    looks: u32,
}

/// A queue in which at most `capacity` items wait, those that the source has taken but not given among them.
pub(super) fn queue<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    // Half may wait in the queue while the other half is given.
    let capacity = capacity.div_ceil(2).max(1);
    let state = State {
        items: VecDeque::new(),
        next: 0,
        has_ended: false,
        is_gone: false,
        source_parks: false,
        posts_park: 0,
    };
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        waiting: AtomicUsize::new(0),
        filled: Condvar::new(),
        emptied: Condvar::new(),
        capacity,
    });
    (Sender(Arc::clone(&shared)), Receiver { shared, taken: VecDeque::new(), looks: LEAST_LOOKS })
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
        let number = state.next;
        state.next += 1;
        state.items.push_back((number, item));
        shared.waiting.store(state.items.len(), Ordering::Relaxed);
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
            if self.shared.waiting.load(Ordering::Relaxed) > 0 {
                self.looks = (2 * self.looks).min(LOOKS);
                return;
            }
            std::hint::spin_loop();
        }
        self.looks = (self.looks / 2).max(LEAST_LOOKS);
    }

    fn refill(&mut self) {
        self.look();
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        while state.items.is_empty() && !state.has_ended {
            state.source_parks = true;
            state = wait(&shared.filled, state);
        }
        state.source_parks = false;
        std::mem::swap(&mut state.items, &mut self.taken);
        shared.waiting.store(0, Ordering::Relaxed);
        let wakes = state.posts_park > 0;
        drop(state);
        if wakes {
            shared.emptied.notify_all();
        }
    }
}

impl<T: Send> Pull for Receiver<T> {
    type Item = Numbered<T>;
    type Error = Infallible;

    fn pull(&mut self) -> Pulled<Numbered<T>, Infallible> {
        if self.taken.is_empty() {
            self.refill();
        }
        self.taken.pop_front().map_or(Pulled::End, Pulled::Item)
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
