//! A pool: threads that are started once and help with many jobs. The closures of a job may borrow.
//!
//! ```
//! use anabranch_record::pool::{ThreadPool, JobContext, Stay};
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! let pool = ThreadPool::new(2, "helper");
//! let next = AtomicU32::new(0);
//! let work = || while next.fetch_add(1, Ordering::Relaxed) < 1_000 {};
//! let job = |_: &JobContext<'_>| {
//!     work();
//!     Stay::Done
//! };
//! pool.lend(1, &job, &|| (), |handle| {
//!     handle.call(); // helpers may join from now on
//!     work(); // the caller can do all the work alone if no helper joins
//! }); // when `lend` returns, no helper is inside `job`
//! ```
//!
//! [`ThreadPool::lend`] returns, or unwinds, only after every helper has left the job. A job never waits for a helper
//! to join, so a job that lends again cannot deadlock. Work without a caller is a [task](Dispatcher). The number of
//! callers and helpers that are inside jobs is at most the size of the pool, or the number of callers if that is
//! larger.

mod core;
mod tasks;
mod threads;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use self::core::{Entry, Erased, JobFn, POOL, PoolCore, PoolState, RunQueue, Threads, erase_job, erase_wake};
pub use self::core::{JobContext, Stay, Task, TaskContext};
use crate::backoff::{Backoff, Polling};
use crate::fork::Birth;
use crate::mutant::Mutant;
use crate::sync::{Arc, AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock};
pub use tasks::Dispatcher;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const CALL_WITHOUT_A_COUNT: Mutant = Mutant("call_without_a_count");
const JOB_STAYS_OPEN: Mutant = Mutant("job_stays_open");
const NO_WAIT_FOR_HELPERS: Mutant = Mutant("no_wait_for_helpers");
const NO_CALL_FOR_ROOM: Mutant = Mutant("no_call_for_room");
const NO_LOOK_AT_CLOSING: Mutant = Mutant("no_look_at_closing");
const BACK_TO_THE_LAST_JOB: Mutant = Mutant("back_to_the_last_job");
const NO_NOTICE_ON_LEAVING: Mutant = Mutant("no_notice_on_leaving");
const DONE_IS_FORGOTTEN: Mutant = Mutant("done_is_forgotten");

/// A set of threads that help with jobs and do [tasks](Dispatcher). Dropping it ends the threads.
pub struct ThreadPool {
    shared: Arc<PoolCore>,
    /// Whether dropping this ends the threads.
    owns: bool,
}

/// How long a temporary helper stays when there is nothing to do.
#[cfg(not(any(loom, shuttle)))]
const TEMPORARY_STAYS: std::time::Duration = std::time::Duration::from_secs(1);

/// A job that takes at least this many nanoseconds is long. After a long job the next one calls its helpers
/// at once.
const LONG_JOB_NS: u128 = 50_000;

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("size", &self.shared.size).finish_non_exhaustive()
    }
}

impl ThreadPool {
    /// Creates a pool for jobs of up to `size` threads, the caller included.
    ///
    /// The pool has `size - 1` helpers, named `name-1`, `name-2` and so on. It has fewer helpers if the
    /// system refuses to start a thread.
    ///
    /// # Panics
    /// If `size` is 0.
    pub fn new(size: usize, name: &str) -> Self {
        assert!(size > 0, "a pool needs a size of at least 1, but `size` is 0");
        let shared = Arc::new(PoolCore {
            birth: Birth::here(),
            size,
            callers: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            backoff: Backoff::new(),
            was_long: AtomicBool::new(true),
            state: Mutex::new(PoolState {
                jobs: Vec::new(),
                next: 0,
                sleeping: 0,
                closing: false,
                tasks: RunQueue::new(),
                busy: 0,
                started: 0,
            }),
            tasks: AtomicUsize::new(0),
            idle: Condvar::new(),
            left: Condvar::new(),
            #[cfg(not(any(loom, shuttle)))]
            watchdog: Condvar::new(),
            name: name.to_owned(),
            threads: Mutex::new(Threads::new()),
        });
        PoolCore::start_threads(&shared, size - 1);
        Self { shared, owns: true }
    }

    /// The same pool once more. Dropping it ends no thread. Once the pool itself was dropped, no thread helps any more.
    pub fn again(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), owns: false }
    }

    /// Whether this process was forked from the one that has created the pool. The threads of the pool are not in this process.
    pub fn is_forked(&self) -> bool {
        self.shared.birth.is_forked()
    }

    /// # Panics
    /// If the pool is forked.
    fn assert_not_forked(&self) {
        assert!(
            !self.is_forked(),
            "this process was forked from the one that has created the pool, and has none of its threads: create a pool after \
             the fork"
        );
    }

    /// Returns a dispatcher for tasks. The pool then has `size` threads instead of `size - 1`, because a task has
    /// no caller that works as well. Returns `None` if the system refuses to start even one thread.
    pub fn dispatcher(&self) -> Option<Dispatcher> {
        self.assert_not_forked();
        let Self { shared, .. } = self;
        (PoolCore::start_threads(shared, shared.size) > 0).then(|| Dispatcher(Arc::clone(shared)))
    }

    /// How many threads may be inside jobs at once, callers included.
    pub fn size(&self) -> usize {
        self.shared.size
    }

    /// Runs `body` on the calling thread, while up to `helpers` threads of the pool may run `job`.
    ///
    /// A helper calls `job` once the caller has [called](JobHandle::call) for helpers. `job` should return when all work
    /// is done, or when its [context](JobContext) says that the helper should leave. The pool calls `wake` to wake the
    /// helpers that wait inside the job, so that they can leave for another job.
    ///
    /// # Panics
    /// A panic in `job` is resumed here after all helpers have left, unless `body` panics itself. Also if the pool
    /// [is forked](Self::is_forked).
    pub fn lend<R>(
        &self,
        helpers: usize,
        job: &(dyn Fn(&JobContext<'_>) -> Stay + Sync),
        wake: &(dyn Fn() + Sync),
        body: impl FnOnce(&JobHandle<'_>) -> R,
    ) -> R {
        self.assert_not_forked();
        let shared = &*self.shared;
        let address = std::ptr::from_ref(shared).addr();
        // A thread that is inside a job of this pool is counted already.
        let outer = POOL.with(|pool| pool.replace(address));
        if outer != address {
            shared.callers.fetch_add(1, Ordering::Relaxed);
        }
        let panic = Mutex::new(None);
        let guarded = |context: &JobContext<'_>| {
            catch_unwind(AssertUnwindSafe(|| job(context))).unwrap_or_else(|payload| {
                let mut first = lock(&panic);
                match *first {
                    None => *first = Some(payload),
                    // Only one panic can be resumed. Dropping this payload could panic again, so it is leaked.
                    Some(_) => std::mem::forget(payload),
                }
                Stay::Done
            })
        };
        let mut state = shared.lock();
        let id = state.next;
        state.next += 1;
        let (job, wake) = (erase_job(&guarded), erase_wake(wake));
        state.jobs.push(Entry { id, job, wake, open: false, wants: helpers, inside: 0 });
        drop(state);

        let result = {
            let handle = JobHandle { shared, id, called: AtomicBool::new(false), outer, address };
            if shared.was_long.load(Ordering::Relaxed) {
                handle.call();
            }
            let began = Clock::now();
            let result = body(&handle);
            shared.was_long.store(began.is_long(), Ordering::Relaxed);
            result
        }; // dropping the handle waits for the helpers, even if `body` unwinds
        if let Some(payload) = panic.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            resume_unwind(payload);
        }
        result
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        let Self { shared, owns } = self;
        if !*owns {
            return;
        }
        if shared.birth.is_forked() {
            // The threads are not in this process, so none can be joined, and a lock may be held for ever.
            std::mem::forget(Arc::clone(shared));
            return;
        }
        shared.lock().closing = true;
        shared.calls.fetch_add(1, Ordering::Release);
        shared.idle.notify_all();
        #[cfg(not(any(loom, shuttle)))]
        shared.watchdog.notify_all();
        shared.join();
        // Tasks that were not done may own a dispatcher, and with it the queue that they are in.
        let left = shared.lock().tasks.clear();
        drop(left);
    }
}

/// A job of the pool while its caller is inside [`ThreadPool::lend`].
pub struct JobHandle<'c> {
    shared: &'c PoolCore,
    id: usize,
    called: AtomicBool,
    outer: usize,
    address: usize,
}

impl fmt::Debug for JobHandle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobHandle").field("called", &self.called).finish_non_exhaustive()
    }
}

impl JobHandle<'_> {
    /// Lets helpers join. A caller calls this once the job turns out to be worth it, and again after the last
    /// helper has [closed it](JobContext::close_behind). Takes a lock.
    #[cold]
    pub fn call(&self) {
        self.called.store(true, Ordering::Relaxed);
        let mut state = self.shared.lock();
        let wanted = state.entry(self.id).map_or(0, |entry| {
            entry.open = true;
            entry.wants
        });
        if !CALL_WITHOUT_A_COUNT.is_on() {
            self.shared.calls.fetch_add(1, Ordering::Release);
        }
        if wanted == 0 {
            return;
        }
        match state.sleeping {
            // No helper sleeps, but some may wait inside other jobs.
            0 => {
                for entry in state.jobs.iter().filter(|entry| entry.id != self.id && entry.inside > 0) {
                    // SAFETY: the state is locked and the entry is in it.
                    unsafe { (*entry.wake.0)() };
                }
            }
            _ if wanted == 1 => self.shared.idle.notify_one(),
            _ => self.shared.idle.notify_all(),
        }
    }

    /// Whether helpers may join already.
    #[inline]
    pub fn is_called(&self) -> bool {
        self.called.load(Ordering::Relaxed)
    }
}

impl Drop for JobHandle<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if !JOB_STAYS_OPEN.is_on()
            && let Some(entry) = state.entry(self.id)
        {
            entry.open = false;
        }
        while !NO_WAIT_FOR_HELPERS.is_on() && state.entry(self.id).is_some_and(|entry| entry.inside > 0) {
            self.shared.birth.end_if_forked();
            state = self.shared.left.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.jobs.retain(|entry| entry.id != self.id);
        POOL.with(|pool| pool.set(self.outer));
        if self.outer != self.address {
            self.shared.one_caller_less(&state);
        }
    }
}

impl PoolCore {
    /// There is one caller less, so another job may have one more helper. It is counted as a call, because a helper that found
    /// no room for itself may be about to sleep.
    fn one_caller_less(&self, state: &PoolState) {
        self.callers.fetch_sub(1, Ordering::Relaxed);
        if state.jobs.iter().any(|entry| entry.open) {
            if !NO_CALL_FOR_ROOM.is_on() {
                self.calls.fetch_add(1, Ordering::Release);
            }
            if state.sleeping > 0 {
                self.idle.notify_one();
            }
        }
    }

    /// The main loop of a helper thread. A temporary one ends when it has had nothing to do for a while.
    fn help(this: &Arc<Self>, number: usize, is_temporary: bool) {
        this.is_home(number);
        let mut state = this.lock();
        let mut last = None;
        loop {
            // A job or a task may have forked the process.
            this.birth.end_if_forked();
            if state.closing {
                return;
            }
            let (locked, has_run) = Self::run_task(this, state);
            state = locked;
            if has_run {
                continue;
            }
            if let Some((id, job)) = this.enter(&mut state, last) {
                last = Some(id);
                state.busy += 1;
                drop(state);
                let context = JobContext { shared: this, id };
                // SAFETY: this helper is counted in the entry's `inside`, so the caller is still inside
                // `lend`.
                let stay = unsafe { (*job.0)(&context) };
                state = this.lock();
                state.busy -= 1;
                this.leave(&mut state, id, stay);
                continue;
            }
            let seen = this.calls.load(Ordering::Acquire);
            drop(state);
            let has_calls = || (this.calls.load(Ordering::Acquire) != seen).then_some(());
            let called = this.backoff.poll(Polling::Busy, has_calls).is_some();
            state = this.lock();
            let closing = state.closing && !NO_LOOK_AT_CLOSING.is_on();
            if !called && !closing && this.calls.load(Ordering::Acquire) == seen {
                let has_work;
                (state, has_work) = this.sleep(state, is_temporary);
                if !has_work && this.calls.load(Ordering::Acquire) == seen {
                    state.started -= 1;
                    return;
                }
            }
        }
    }

    /// Sleeps until there may be work. A temporary helper sleeps for [`TEMPORARY_STAYS`] at most. Returns whether there may be
    /// work then.
    #[cfg(not(any(loom, shuttle)))]
    fn sleep<'s>(
        &self,
        mut state: MutexGuard<'s, PoolState>,
        is_temporary: bool,
    ) -> (MutexGuard<'s, PoolState>, bool) {
        state.sleeping += 1;
        let mut has_work = true;
        if is_temporary {
            let slept = self.idle.wait_timeout(state, TEMPORARY_STAYS);
            let (locked, waited) = slept.unwrap_or_else(|poisoned| poisoned.into_inner());
            (state, has_work) = (locked, !waited.timed_out());
        } else {
            state = self.idle.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.sleeping -= 1;
        (state, has_work)
    }

    /// Model checkers have no clock, and no temporary helpers.
    #[cfg(any(loom, shuttle))]
    fn sleep<'s>(&self, mut state: MutexGuard<'s, PoolState>, _: bool) -> (MutexGuard<'s, PoolState>, bool) {
        state.sleeping += 1;
        state = self.idle.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        state.sleeping -= 1;
        (state, true)
    }

    /// Enters the open job that has the fewest helpers, if there is one and the pool has room. Among equals
    /// it avoids the job that the helper was in last, which it may have left for the other one.
    fn enter(&self, state: &mut PoolState, last: Option<usize>) -> Option<(usize, Erased<JobFn<'static>>)> {
        let entry =
            state.jobs.iter_mut().filter(|entry| entry.open && entry.inside < entry.wants).min_by_key(
                |entry| (entry.inside, !BACK_TO_THE_LAST_JOB.is_on() && last == Some(entry.id)),
            )?;
        if self.helpers.load(Ordering::Relaxed) + self.callers.load(Ordering::Relaxed) >= self.size {
            return None;
        }
        self.helpers.fetch_add(1, Ordering::Relaxed);
        entry.inside += 1;
        Some((entry.id, entry.job))
    }

    fn leave(&self, state: &mut PoolState, id: usize, stay: Stay) {
        self.helpers.fetch_sub(1, Ordering::Relaxed);
        if let Some(entry) = state.entry(id) {
            entry.inside -= 1;
            entry.open &= stay == Stay::Away || DONE_IS_FORGOTTEN.is_on();
            if entry.inside == 0 && !entry.open && !NO_NOTICE_ON_LEAVING.is_on() {
                self.left.notify_all();
            }
        }
    }
}

/// Measures how long a body takes. Model checkers have no clock.
struct Clock {
    #[cfg(not(any(loom, shuttle)))]
    began: std::time::Instant,
}

impl Clock {
    fn now() -> Self {
        Self {
            #[cfg(not(any(loom, shuttle)))]
            began: std::time::Instant::now(),
        }
    }

    fn is_long(&self) -> bool {
        #[cfg(not(any(loom, shuttle)))]
        return self.began.elapsed().as_nanos() >= LONG_JOB_NS;
        // Under a model checker no job is long, so only the first job calls its helpers at once.
        #[cfg(any(loom, shuttle))]
        (LONG_JOB_NS == 0)
    }
}
