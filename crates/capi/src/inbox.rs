//! The queue between a loop that sends items and the source of its stream.
//!
//! The source takes everything that waits at once, so that the sender and the source seldom meet at the lock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Before the source sleeps, it lets other threads run so often, in the hope that one sends something.
const YIELDS: usize = 8;

/// Makes a queue with room for `room` items, those among them that the source has taken and not yet given.
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
    /// What the source has taken and not yet given.
    taken: AtomicUsize,
    state: Mutex<State<T>>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    /// Nothing is sent any more, or nothing is taken.
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

    /// No item is sent or taken from here on. What waits is still taken.
    fn end(&self) {
        self.lock().has_ended = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }
}

/// The loop's end of the queue. Dropping it ends the stream, after what was sent.
#[derive(Debug)]
pub(crate) struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// Sends an item. Waits while there is no room.
    ///
    /// # Errors
    /// If the stream has ended: the item comes back.
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

    /// What ends the stream early.
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

/// The source's end of the queue. Dropping it drops what waits.
#[derive(Debug)]
pub(crate) struct Taker<T> {
    taken: VecDeque<T>,
    shared: Arc<Shared<T>>,
}

impl<T> Taker<T> {
    /// The next item; waits for it. `None` when the stream has ended.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<T> {
        if self.taken.is_empty() {
            self.fetch();
        }
        let item = self.taken.pop_front();
        self.shared.taken.store(self.taken.len(), Ordering::Relaxed);
        item
    }

    /// Takes everything that waits; waits for something.
    fn fetch(&mut self) {
        let Shared { filled, emptied, .. } = &*self.shared;
        let mut yields = 0;
        let mut state = self.shared.lock();
        loop {
            // Whatever was taken before is given.
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
        // Under the lock, so that the sender counts no item twice and none not at all.
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
