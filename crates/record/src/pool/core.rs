//! The state that the threads of a pool and its callers share.

use std::collections::VecDeque;
use std::fmt;

use crate::backoff::Backoff;
use crate::fork::Birth;
use crate::mutant::Mutant;
use crate::sync::{
    AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock, thread, thread_local,
};

// This mutant takes a rule out, to show that a model notices: scripts/mutants.md.
const IDLE_JOBS_STAY_OPEN: Mutant = Mutant("idle_jobs_stay_open");

/// The state that the threads of a pool share with its callers.
pub(super) struct PoolCore {
    /// The process that has created the pool. A fork of it has none of the threads, and may have locks that nobody releases.
    pub(super) birth: Birth,
    /// How many callers and helpers may be inside jobs. If there are more callers than that, no helper joins.
    pub(super) size: usize,
    /// How many threads from outside the pool are inside `lend`.
    pub(super) callers: AtomicUsize,
    /// How many helpers are inside jobs.
    pub(super) helpers: AtomicUsize,
    /// Rises when a job calls for helpers. Idle helpers poll it before they sleep.
    pub(super) calls: AtomicUsize,
    /// How long an idle helper polls.
    pub(super) backoff: Backoff,
    /// Whether the last job was long enough for helpers to be useful.
    pub(super) was_long: AtomicBool,
    pub(super) state: Mutex<PoolState>,
    /// How many tasks wait, for threads that do not take the lock.
    pub(super) tasks: AtomicUsize,
    /// Idle helpers wait here for a job or a task.
    pub(super) idle: Condvar,
    /// Callers wait here until their helpers have left.
    pub(super) left: Condvar,
    /// The thread that looks for tasks which nobody takes waits here.
    #[cfg(not(any(loom, shuttle)))]
    pub(super) watchdog: Condvar,
    /// The prefix of the threads' names.
    pub(super) name: String,
    pub(super) threads: Mutex<Threads>,
}

pub(super) struct PoolState {
    pub(super) jobs: Vec<Entry>,
    pub(super) next: usize,
    pub(super) sleeping: usize,
    pub(super) closing: bool,
    pub(super) tasks: RunQueue,
    /// How many of the pool's threads are inside jobs or do tasks.
    pub(super) busy: usize,
    /// How many threads the pool has, without the watchdog.
    pub(super) started: usize,
}

/// A job whose caller is inside [`ThreadPool::lend`].
pub(super) struct Entry {
    pub(super) id: usize,
    pub(super) job: Erased<JobFn<'static>>,
    /// Wakes the helpers that wait inside the job, so that they look at whether they should leave.
    pub(super) wake: Erased<WakeFn<'static>>,
    /// Whether helpers may enter: the job has called for them, and its caller has not left.
    pub(super) open: bool,
    /// How many helpers may be inside at once.
    pub(super) wants: usize,
    pub(super) inside: usize,
}

/// A closure of a job, with its lifetime erased.
///
/// Invariant: `job` is called only by helpers that are counted in `inside` of its entry. `wake` is called
/// only while the state is locked and the entry is in it. `lend` keeps both borrows alive until the entry is
/// closed, `inside` is 0, and the entry was removed.
pub(super) struct Erased<F: ?Sized>(pub(super) *const F);

impl<F: ?Sized> Clone for Erased<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: ?Sized> Copy for Erased<F> {}

// SAFETY: the closure behind the pointer is `Sync` in both uses, and it is only called.
unsafe impl<F: ?Sized + Sync> Send for Erased<F> {}

pub(super) type JobFn<'a> = dyn Fn(&JobContext<'_>) -> Stay + Sync + 'a;
pub(super) type WakeFn<'a> = dyn Fn() + Sync + 'a;

pub(super) fn erase_job(job: &JobFn<'_>) -> Erased<JobFn<'static>> {
    // SAFETY: the two types differ only in a lifetime, and the invariant of `Erased` keeps all calls within
    // it.
    Erased(unsafe { std::mem::transmute::<*const JobFn<'_>, *const JobFn<'static>>(job) })
}

pub(super) fn erase_wake(wake: &WakeFn<'_>) -> Erased<WakeFn<'static>> {
    // SAFETY: as in `erase_job`.
    Erased(unsafe { std::mem::transmute::<*const WakeFn<'_>, *const WakeFn<'static>>(wake) })
}

/// The report of a helper that comes back from a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stay {
    /// The helper left so that another thread may work. There may be more to do, so helpers may enter again.
    Away,
    /// All work is done, so no helper needs to enter again.
    Done,
}

impl PoolState {
    pub(super) fn entry(&mut self, id: usize) -> Option<&mut Entry> {
        self.jobs.iter_mut().find(|entry| entry.id == id)
    }
}

impl PoolCore {
    pub(super) fn lock(&self) -> MutexGuard<'_, PoolState> {
        lock(&self.state)
    }

    pub(super) fn is_oversubscribed(&self) -> bool {
        let helpers = self.helpers.load(Ordering::Relaxed);
        helpers > 0 && helpers + self.callers.load(Ordering::Relaxed) > self.size
    }
}

/// A helper's visit to a job.
pub struct JobContext<'c> {
    pub(super) shared: &'c PoolCore,
    pub(super) id: usize,
}

impl fmt::Debug for JobContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobContext").field("id", &self.id).finish_non_exhaustive()
    }
}

impl JobContext<'_> {
    /// Whether the helper should leave at its next opportunity because more callers have come.
    #[inline]
    pub fn is_oversubscribed(&self) -> bool {
        self.shared.is_oversubscribed()
    }

    /// Announces that the helper leaves because it finds nothing to do.
    ///
    /// If it is the last helper inside, the job is closed to helpers until it [calls](super::JobHandle::call) again.
    /// Without this, two jobs without work would pass one helper back and forth. Takes a lock.
    pub fn close_behind(&self) {
        let mut state = self.shared.lock();
        if let Some(entry) = state.entry(self.id)
            && entry.inside == 1
            && !IDLE_JOBS_STAY_OPEN.is_on()
        {
            entry.open = false;
        }
    }

    /// Whether another job has no helper yet, or a task waits. A helper that finds nothing to do in its job should leave for
    /// that one. Takes a lock.
    pub fn is_wanted_elsewhere(&self) -> bool {
        let state = self.shared.lock();
        let is_wanted =
            |entry: &Entry| entry.id != self.id && entry.open && entry.inside == 0 && entry.wants > 0;
        state.tasks.are_waiting() || state.jobs.iter().any(is_wanted)
    }
}

thread_local! {
    /// The pool that the current thread works for, as the address of its shared state. 0 means none.
    #[allow(clippy::missing_const_for_thread_local)] // the model checkers' macro has no `const` form
    pub(super) static POOL: std::cell::Cell<usize> = std::cell::Cell::new(0);
}

/// A piece of work that one thread of a pool does once. It must not panic.
pub type Task = Box<dyn FnOnce(&TaskContext<'_>) + Send>;

/// A thread of a pool while it does a task.
pub struct TaskContext<'c> {
    pub(super) tasks: &'c AtomicUsize,
}

impl TaskContext<'_> {
    /// Whether other tasks wait for a thread. A task that is long should end, and send a new one for the rest.
    #[inline]
    pub fn is_wanted_elsewhere(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) > 0
    }
}

impl fmt::Debug for TaskContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskContext").field("waiting", &self.tasks.load(Ordering::Relaxed)).finish()
    }
}

/// The tasks of a pool, in its state.
pub(super) struct RunQueue {
    pub(super) queue: VecDeque<Task>,
    /// How many tasks were taken out of the queue.
    pub(super) taken: u64,
    /// Whether a thread looks for tasks that nobody takes.
    pub(super) has_watchdog: bool,
}

impl RunQueue {
    pub(super) fn new() -> Self {
        Self { queue: VecDeque::new(), taken: 0, has_watchdog: false }
    }

    /// Takes all tasks out.
    pub(super) fn clear(&mut self) -> VecDeque<Task> {
        std::mem::take(&mut self.queue)
    }

    pub(super) fn are_waiting(&self) -> bool {
        !self.queue.is_empty()
    }
}

/// The threads of a pool, until they are joined, with their numbers from 1 on.
pub(super) struct Threads {
    pub(super) list: Vec<(usize, thread::JoinHandle<()>)>,
    pub(super) next: usize,
}

impl Threads {
    pub(super) fn new() -> Self {
        Self { list: Vec::new(), next: 1 }
    }
}
