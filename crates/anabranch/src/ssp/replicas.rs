//! The replicas of a parallel stage. One worker at a time uses a replica.

use std::sync::{Arc, PoisonError, TryLockError};

use anabranch_record::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, Padded, fence, lock};

/// The states of all replicas of a stage.
#[derive(Debug)]
pub(super) struct Replicas<S> {
    /// The replicas that no worker has, if there are enough for every worker to keep one.
    spare: Mutex<Vec<S>>,
    /// The replicas that workers use in turn, if there are fewer than workers.
    shared: SharedReplicas<S>,
}

/// Replicas that workers use in turn, one item at a time.
#[derive(Debug)]
struct SharedReplicas<S> {
    replicas: Box<[Padded<Mutex<S>>]>,
    /// The replica at which the next worker looks first.
    first: AtomicUsize,
    waiting: AtomicUsize,
    gate: Mutex<()>,
    freed: Condvar,
}

/// A worker's access to the replicas.
#[derive(Debug)]
pub(super) struct ReplicaHandle<S> {
    replicas: Arc<Replicas<S>>,
    /// The replica that the worker keeps, if it keeps one.
    own: Option<S>,
    /// The position of the replica that it used last, if it keeps none.
    last: usize,
}

impl<S> Replicas<S> {
    pub(super) fn new(states: Vec<S>, workers: usize) -> Self {
        let (spare, shared) =
            if states.len() < workers { (Vec::new(), states) } else { (states, Vec::new()) };
        Self { spare: Mutex::new(spare), shared: SharedReplicas::new(shared) }
    }

    /// Creates a handle for a worker that has none.
    pub(super) fn handle(self: &Arc<Self>) -> ReplicaHandle<S> {
        let own = self.spare().pop();
        let last = if own.is_none() { self.shared.first() } else { 0 };
        ReplicaHandle { replicas: Arc::clone(self), own, last }
    }

    fn spare(&self) -> MutexGuard<'_, Vec<S>> {
        lock(&self.spare)
    }
}

impl<S> ReplicaHandle<S> {
    /// Calls `f` with a replica. It waits while none is free.
    #[inline]
    pub(super) fn with<R>(&mut self, f: impl FnOnce(&mut S) -> R) -> R {
        match &mut self.own {
            Some(state) => f(state),
            None => self.replicas.shared.with(&mut self.last, f),
        }
    }
}

/// Puts the replica back: a worker whose stage has panicked may need it for an earlier item.
impl<S> Drop for ReplicaHandle<S> {
    fn drop(&mut self) {
        self.replicas.spare().extend(self.own.take());
    }
}

impl<S> SharedReplicas<S> {
    fn new(states: Vec<S>) -> Self {
        Self {
            replicas: states.into_iter().map(|state| Padded::new(Mutex::new(state))).collect(),
            first: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            gate: Mutex::new(()),
            freed: Condvar::new(),
        }
    }

    /// The position at which a worker looks first.
    fn first(&self) -> usize {
        self.first.fetch_add(1, Ordering::Relaxed) % self.replicas.len()
    }

    /// Calls `f` with a free replica: the one at `position` if it is free, and otherwise another, whose
    /// position it stores. It waits while none is free.
    #[inline(never)]
    fn with<R>(&self, position: &mut usize, f: impl FnOnce(&mut S) -> R) -> R {
        // This is dropped last, even if the stage panics. Only then is the replica free.
        let _freed = Freed(self);
        let mut state = self.free(position).unwrap_or_else(|| self.wait(position));
        f(&mut state)
    }

    fn free(&self, position: &mut usize) -> Option<MutexGuard<'_, S>> {
        for _ in 0..self.replicas.len() {
            match self.replicas[*position].try_lock() {
                Ok(state) => return Some(state),
                // A call of the stage has panicked. The pipeline ends at that item, but earlier items are
                // finished.
                Err(TryLockError::Poisoned(state)) => return Some(state.into_inner()),
                Err(TryLockError::WouldBlock) => *position = (*position + 1) % self.replicas.len(),
            }
        }
        None
    }

    #[cold]
    fn wait(&self, position: &mut usize) -> MutexGuard<'_, S> {
        let mut gate = lock(&self.gate);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // This fence pairs with the one in `Freed`. A thread that frees a replica after the look below sees
        // the waiting worker.
        fence(Ordering::SeqCst);
        loop {
            if let Some(state) = self.free(position) {
                self.waiting.fetch_sub(1, Ordering::SeqCst);
                return state;
            }
            gate = self.freed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Tells a waiting worker that a replica is free, even if the stage has panicked.
struct Freed<'s, S>(&'s SharedReplicas<S>);

impl<S> Drop for Freed<'_, S> {
    fn drop(&mut self) {
        let Freed(shared) = self;
        fence(Ordering::SeqCst);
        if shared.waiting.load(Ordering::SeqCst) > 0 {
            // The lock is held, so a worker between its look and its wait gets the notification.
            let _gate = lock(&shared.gate);
            shared.freed.notify_one();
        }
    }
}
