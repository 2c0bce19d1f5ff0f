//! The queue between a loop that sends items and the source of its stream.
//!
//! The source takes all waiting items at once, so the sender and the source seldom need the lock at the same
//! time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How many times the source yields to other threads before it sleeps. One of them may send an item
/// meanwhile.
const YIELDS: usize = 8;

/// Creates a queue with room for `room` items, including those that the source has taken and not given yet.
pub(crate) fn inbox<T>(room: usize) -> (Sender<T>, Taker<T>) {
    let state =
        State { items: VecDeque::new(), has_ended: false, source_sleeps: false, sender_sleeps: false };
    let shared = Arc::new(Shared {
        room,
        taken: AtomicUsize::new(0),
        state: Mutex::new(state),
        filled: Condvar::new(),
        emptied: Condvar::new(),
    });
    (Sender { shared: Arc::clone(&shared) }, Taker { taken: VecDeque::new(), shared })
}

#[derive(Debug)]
struct Shared<T> {
    room: usize,
    /// How many items the source has taken and not given yet.
    taken: AtomicUsize,
    state: Mutex<State<T>>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    /// Whether no more items are sent, or no more are taken.
    has_ended: bool,
    source_sleeps: bool,
    sender_sleeps: bool,
}

impl<T> Shared<T> {
    fn has_room(&self, state: &State<T>) -> bool {
        state.items.len() + self.taken.load(Ordering::Relaxed) < self.room
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the queue: later sends fail. Items that wait are still taken.
    fn end(&self) {
        self.lock().has_ended = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }
}

/// The loop's end of the queue. Dropping it ends the stream after the items that were sent.
#[derive(Debug)]
pub(crate) struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// Sends an item. Waits while there is no room.
    ///
    /// # Errors
    /// The item, if the stream has ended.
    pub(crate) fn send(&self, item: T) -> Result<(), T> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        while !shared.has_room(&state) && !state.has_ended {
            state.sender_sleeps = true;
            state = shared.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.has_ended {
            return Err(item);
        }
        state.items.push_back(item);
        let wakes = std::mem::take(&mut state.source_sleeps);
        drop(state);
        if wakes {
            shared.filled.notify_one();
        }
        Ok(())
    }

    /// Returns a function that ends the stream early.
    pub(crate) fn stopper(&self) -> impl Fn() + Send + Sync + use<T>
    where
        T: Send,
    {
        let shared = Arc::clone(&self.shared);
        move || shared.end()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.end();
    }
}

/// The source's end of the queue. Dropping it drops the items that wait.
#[derive(Debug)]
pub(crate) struct Taker<T> {
    taken: VecDeque<T>,
    shared: Arc<Shared<T>>,
}

impl<T> Taker<T> {
    /// Waits for the next item and returns it. `None` if the stream has ended.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<T> {
        if self.taken.is_empty() {
            self.fetch();
        }
        let item = self.taken.pop_front();
        self.shared.taken.store(self.taken.len(), Ordering::Relaxed);
        item
    }

    /// Waits for at least one item, and takes all items that wait.
    fn fetch(&mut self) {
        let Shared { filled, emptied, .. } = &*self.shared;
        let mut yields = 0;
        let mut state = self.shared.lock();
        loop {
            // All items that were taken before have been given.
            if std::mem::take(&mut state.sender_sleeps) {
                emptied.notify_one();
            }
            if !state.items.is_empty() || state.has_ended {
                break;
            }
            if yields < YIELDS {
                yields += 1;
                drop(state);
                std::thread::yield_now();
                state = self.shared.lock();
            } else {
                state.source_sleeps = true;
                state = filled.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        std::mem::swap(&mut state.items, &mut self.taken);
        // Stored under the lock, so that the sender counts each item exactly once.
        self.shared.taken.store(self.taken.len(), Ordering::Relaxed);
    }
}

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        self.shared.end();
        let left = std::mem::take(&mut self.shared.lock().items);
        drop(left);
    }
}
