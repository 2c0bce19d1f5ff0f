//! The replicas of a parallel stage: each is used by one worker at a time.

use std::sync::{Arc, PoisonError, TryLockError};

use anabranch_record::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, Padded, fence, lock};

/// As many states as the stage has replicas.
#[derive(Debug)]
pub(super) struct Replicas<S> {
    /// Those that nobody has, if there are enough for every worker to keep one...
    spare: Mutex<Vec<S>>,
    /// ... else workers have them in turn.
    shared: Shared<S>,
}

/// Replicas that workers have in turn, an item each.
#[derive(Debug)]
struct Shared<S> {
    places: Box<[Padded<Mutex<S>>]>,
    /// Where the next worker looks first.
    first: AtomicUsize,
    waiting: AtomicUsize,
    gate: Mutex<()>,
    freed: Condvar,
}

/// One worker's side of the replicas.
#[derive(Debug)]
pub(super) struct Seat<S> {
    replicas: Arc<Replicas<S>>,
    /// The one that it keeps.
    own: Option<S>,
    /// The one that it had last, if it keeps none.
    place: usize,
}

impl<S> Replicas<S> {
    pub(super) fn new(states: Vec<S>, workers: usize) -> Self {
        let (spare, shared) =
            if states.len() < workers { (Vec::new(), states) } else { (states, Vec::new()) };
        Self { spare: Mutex::new(spare), shared: Shared::new(shared) }
    }

    /// A seat for a worker that has none.
    pub(super) fn seat(self: &Arc<Self>) -> Seat<S> {
        let own = self.spare().pop();
        let place = if own.is_none() { self.shared.place() } else { 0 };
        Seat { replicas: Arc::clone(self), own, place }
    }

    fn spare(&self) -> MutexGuard<'_, Vec<S>> {
        lock(&self.spare)
    }
}

impl<S> Seat<S> {
    /// Calls `f` with a replica. Waits while none is free.
    #[inline]
    pub(super) fn with<R>(&mut self, f: impl FnOnce(&mut S) -> R) -> R {
        match &mut self.own {
            Some(state) => f(state),
            None => self.replicas.shared.with(&mut self.place, f),
        }
    }
}

/// A worker whose stage has panicked may come to need its replica for an item before that.
impl<S> Drop for Seat<S> {
    fn drop(&mut self) {
        self.replicas.spare().extend(self.own.take());
    }
}

impl<S> Shared<S> {
    fn new(states: Vec<S>) -> Self {
        Self {
            places: states.into_iter().map(|state| Padded(Mutex::new(state))).collect(),
            first: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            gate: Mutex::new(()),
            freed: Condvar::new(),
        }
    }

    /// The place in which a worker looks first.
    fn place(&self) -> usize {
        self.first.fetch_add(1, Ordering::Relaxed) % self.places.len()
    }

    /// Calls `f` with a free replica: that of `place` if it is free, else another, which `place` then says. Waits
    /// while none is.
    #[inline(never)]
    fn with<R>(&self, place: &mut usize, f: impl FnOnce(&mut S) -> R) -> R {
        // Dropped last, also when the stage panics: only then is the replica free.
        let _freed = Freed(self);
        let mut state = self.free(place).unwrap_or_else(|| self.wait(place));
        f(&mut state)
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
        let mut gate = lock(&self.gate);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // Against the one in `Freed`: who is freed after this look sees that somebody waits.
        fence(Ordering::SeqCst);
        loop {
            if let Some(state) = self.free(place) {
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                return state;
            }
            gate = self.freed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Tells who waits that a replica is free, also when the stage has panicked.
struct Freed<'s, S>(&'s Shared<S>);

impl<S> Drop for Freed<'_, S> {
    fn drop(&mut self) {
        let Freed(shared) = self;
        fence(Ordering::SeqCst);
        if shared.waiting.load(Ordering::SeqCst) > 0 {
            // Under the gate: a worker between its look and its wait is not missed.
            let _gate = lock(&shared.gate);
            shared.freed.notify_one();
        }
    }
}
