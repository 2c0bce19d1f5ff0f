//! Hands single values from one thread to another, and waits for them.
//!
//! A channel of the standard library would do the same, but has several kinds of queues in it, which every program of a
//! user would be linked with.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The side that gives. When all of its clones are dropped, no more values come.
#[derive(Debug)]
pub(crate) struct Giver<T>(Arc<Shared<T>>);

/// The side that takes.
#[derive(Debug)]
pub(crate) struct Taker<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    values: VecDeque<T>,
    givers: usize,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates both sides.
pub(crate) fn handoff<T>() -> (Giver<T>, Taker<T>) {
    let state = Mutex::new(State { values: VecDeque::new(), givers: 1 });
    let shared = Arc::new(Shared { state, changed: Condvar::new() });
    (Giver(Arc::clone(&shared)), Taker(shared))
}

impl<T> Giver<T> {
    /// Gives a value. It is dropped together with the taker, if it is not taken before.
    pub(crate) fn give(&self, value: T) {
        self.0.lock().values.push_back(value);
        self.0.changed.notify_one();
    }
}

impl<T> Clone for Giver<T> {
    fn clone(&self) -> Self {
        self.0.lock().givers += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Giver<T> {
    fn drop(&mut self) {
        self.0.lock().givers -= 1;
        self.0.changed.notify_one();
    }
}

impl<T> Taker<T> {
    /// Waits for a value, and takes it. `None` if all givers are gone.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.0.lock();
        loop {
            if let Some(value) = state.values.pop_front() {
                return Some(value);
            }
            if state.givers == 0 {
                return None;
            }
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
