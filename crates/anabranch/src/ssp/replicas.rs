//! The replicas of a parallel stage: each is used by one worker at a time.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

use anabranch_record::sync::Padded;

/// As many states as the stage has replicas.
#[derive(Debug)]
pub(super) struct Replicas<S> {
    places: Box<[Padded<Mutex<S>>]>,
    /// Where the next worker looks first.
    first: AtomicUsize,
    /// Whether there are fewer than workers, so that one may have to wait for a replica.
    are_few: bool,
    waiting: AtomicUsize,
    gate: Mutex<()>,
    freed: Condvar,
}

impl<S> Replicas<S> {
    pub(super) fn new(states: Vec<S>, workers: usize) -> Self {
        Self {
            are_few: states.len() < workers,
            places: states.into_iter().map(|state| Padded(Mutex::new(state))).collect(),
            first: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            gate: Mutex::new(()),
            freed: Condvar::new(),
        }
    }

    /// The place in which a worker looks first.
    pub(super) fn place(&self) -> usize {
        self.first.fetch_add(1, Ordering::Relaxed) % self.places.len()
    }

    /// Calls `f` with a free replica: that of `place` if it is free, else another, which `place` then says. Waits
    /// while none is.
    pub(super) fn with<R>(&self, place: &mut usize, f: impl FnOnce(&mut S) -> R) -> R {
        let mut state = self.free(place).unwrap_or_else(|| self.wait(place));
        let freed = self.are_few.then_some(Freed(self));
        let result = f(&mut state);
        drop(state);
        drop(freed);
        result
    }

    fn free(&self, place: &mut usize) -> Option<MutexGuard<'_, S>> {
        for _ in 0..self.places.len() {
            match self.places[*place].try_lock() {
                Ok(state) => return Some(state),
                // Its stage has panicked: the pipeline ends at that item, but the items before it are finished.
                Err(TryLockError::Poisoned(state)) => return Some(state.into_inner()),
                Err(TryLockError::WouldBlock) => *place = (*place + 1) % self.places.len(),
            }
        }
        None
    }

    #[cold]
    fn wait(&self, place: &mut usize) -> MutexGuard<'_, S> {
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // Against the one in `Freed`: who is freed after this look sees that somebody waits.
        fence(Ordering::SeqCst);
        loop {
            if let Some(state) = self.free(place) {
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                return state;
            }
            // Where as many replicas as workers were missed by bad luck, nobody says that one was freed.
            if self.are_few {
                gate = self.freed.wait(gate).unwrap_or_else(PoisonError::into_inner);
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// Tells who waits that a replica is free, also when the stage has panicked.
struct Freed<'r, S>(&'r Replicas<S>);

impl<S> Drop for Freed<'_, S> {
    fn drop(&mut self) {
        let Freed(replicas) = self;
        fence(Ordering::SeqCst);
        if replicas.waiting.load(Ordering::SeqCst) > 0 {
            // Under the gate: a worker between its look and its wait is not missed.
            let _gate = replicas.gate.lock().unwrap_or_else(PoisonError::into_inner);
            replicas.freed.notify_one();
        }
    }
}
