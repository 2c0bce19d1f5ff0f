//! Tasks: work without a caller, which the threads of a pool do one piece after another.
//!
//! ```
//! use anabranch_record::pool::ThreadPool;
//! use std::sync::mpsc::channel;
//!
//! let pool = ThreadPool::new(2, "helper");
//! let dispatcher = pool.dispatcher().expect("the system has a thread");
//! let (sender, receiver) = channel();
//! for n in 0..3 {
//!     let sender = sender.clone();
//!     dispatcher.send(Box::new(move |_| sender.send(n * n).unwrap()));
//! }
//! let mut squares: Vec<i32> = receiver.iter().take(3).collect();
//! squares.sort();
//! assert_eq!(squares, [0, 1, 4]);
//! ```
//!
//! A thread that does a task counts as the caller of a job: while it works, one helper fewer may be inside jobs.
//!
//! A task may wait for another task. If all threads of the pool wait, or compute, for [`STUCK`] while tasks lie in the
//! queue, the pool gets one more thread, and another one after the same time. So tasks that wait for each other go on.
//! Such a thread ends when it has had nothing to do for a second.

use std::fmt;
#[cfg(not(any(loom, shuttle)))]
use std::time::Duration;

use super::core::{PoolCore, RunQueue, Task, TaskContext};
use crate::mutant::Mutant;
use crate::sync::{Arc, MutexGuard, Ordering};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const TASK_WITHOUT_A_COUNT: Mutant = Mutant("task_without_a_count");

/// How long tasks lie in the queue, without one being taken, before the pool gets one more thread.
#[cfg(not(any(loom, shuttle)))]
const STUCK: Duration = Duration::from_millis(100);
/// The thread that looks for stuck tasks ends after this many intervals of [`STUCK`] in a row without a task in
/// the queue.
#[cfg(not(any(loom, shuttle)))]
const QUIET_LOOKS: u32 = 5;

/// Sends tasks to a pool. It does not keep the pool alive: when the pool was dropped, tasks are dropped too.
#[derive(Clone)]
pub struct Dispatcher(pub(super) Arc<PoolCore>);

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").finish_non_exhaustive()
    }
}

impl Dispatcher {
    /// For how many threads the pool was made.
    pub fn threads(&self) -> usize {
        self.0.size
    }

    /// Sends a task, which some thread of the pool does after those that were sent before. In a process that was forked from that of
    /// the pool, this does nothing.
    pub fn send(&self, task: Task) {
        let Self(shared) = self;
        if shared.birth.is_forked() {
            // No thread is here to do it. Its fields belong to threads of the parent.
            return std::mem::forget(task);
        }
        let mut state = shared.lock();
        if state.closing {
            drop(state);
            return; // and only now the task is dropped
        }
        state.tasks.queue.push_back(task);
        shared.note_tasks(&state.tasks);
        if !TASK_WITHOUT_A_COUNT.is_on() {
            shared.calls.fetch_add(1, Ordering::Release);
        }
        if state.sleeping > 0 {
            shared.idle.notify_one();
            return;
        }
        if shared.backoff.is_polling() {
            return; // a helper polls, and looks at the count under the lock before it sleeps
        }
        // Helpers that wait inside a job leave it for a task.
        for entry in state.jobs.iter().filter(|entry| entry.inside > 0) {
            // SAFETY: the state is locked and the entry is in it.
            unsafe { (*entry.wake.0)() };
        }
        PoolCore::watch_if_all_are_busy(shared, state);
    }
}

impl PoolCore {
    /// Tells without a lock how many tasks wait.
    fn note_tasks(&self, tasks: &RunQueue) {
        self.tasks.store(tasks.queue.len(), Ordering::Relaxed);
    }

    /// Does the next task, if there is one. Returns the locked state again.
    pub(super) fn run_task<'s>(
        this: &'s Arc<Self>,
        mut state: MutexGuard<'s, super::PoolState>,
    ) -> (MutexGuard<'s, super::PoolState>, bool) {
        let Some(task) = state.tasks.queue.pop_front() else { return (state, false) };
        state.tasks.taken += 1;
        state.busy += 1;
        this.note_tasks(&state.tasks);
        Self::watch_if_all_are_busy(this, state);
        this.callers.fetch_add(1, Ordering::Relaxed);
        task(&TaskContext { tasks: &this.tasks });
        let mut state = this.lock();
        state.busy -= 1;
        this.one_caller_less(&state);
        (state, true)
    }

    /// Makes sure that a thread looks out if tasks wait and all threads are busy: the busy threads may wait for one
    /// of these tasks. Called whenever a task comes, and whenever a thread becomes busy while others wait. Unlocks
    /// the state.
    fn watch_if_all_are_busy(this: &Arc<Self>, mut state: MutexGuard<'_, super::PoolState>) {
        let is_needed = state.tasks.are_waiting() && state.busy >= state.started && !state.tasks.has_watchdog;
        state.tasks.has_watchdog |= is_needed;
        drop(state);
        if is_needed {
            Self::start_watchdog(this);
        }
    }

    /// Starts the thread that looks for tasks which nobody takes. The caller has set `has_watchdog`.
    #[cfg(not(any(loom, shuttle)))]
    fn start_watchdog(this: &Arc<Self>) {
        let shared = Arc::clone(this);
        if !this.spawn(move |number| Self::watch(&shared, number)) {
            this.lock().tasks.has_watchdog = false;
        }
    }

    /// Model checkers have no clock.
    #[cfg(any(loom, shuttle))]
    fn start_watchdog(_: &Arc<Self>) {}

    #[cfg(not(any(loom, shuttle)))]
    fn watch(this: &Arc<Self>, number: usize) {
        this.is_home(number);
        let mut state = this.lock();
        let mut quiet = 0;
        while !state.closing && quiet < QUIET_LOOKS {
            let (seen, waited) = (state.tasks.taken, state.tasks.are_waiting());
            let looked = this.watchdog.wait_timeout(state, STUCK).unwrap_or_else(|error| error.into_inner());
            let is_time = looked.1.timed_out();
            state = looked.0;
            if state.closing || !is_time {
                continue;
            }
            let has_taken = state.tasks.taken != seen;
            quiet = if has_taken || state.tasks.are_waiting() { 0 } else { quiet + 1 };
            if waited && !has_taken && state.tasks.are_waiting() {
                state.started += 1;
                drop(state);
                let shared = Arc::clone(this);
                let has_started = this.spawn(move |number| Self::help(&shared, number, true));
                state = this.lock();
                state.started -= usize::from(!has_started);
            }
        }
        state.tasks.has_watchdog = false;
    }
}
