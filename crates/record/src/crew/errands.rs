//! Errands: work without a caller, which the threads of a crew do one piece after another.
//!
//! ```
//! use anabranch_record::crew::Crew;
//! use std::sync::mpsc::channel;
//!
//! let crew = Crew::new(2, "helper");
//! let dispatcher = crew.dispatcher().expect("the system has a thread");
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
//! A thread that does an errand counts as the caller of a job: while it works, one helper fewer may be inside jobs.
//!
//! An errand may wait for another errand. If all threads of the crew wait, or compute, for [`STUCK`] while errands lie in the
//! queue, the crew gets one more thread, and another one after the same time. So errands that wait for each other go on.
//! Such a thread ends when it has had nothing to do for a second.

use std::collections::VecDeque;
use std::fmt;
#[cfg(not(any(loom, shuttle)))]
use std::time::Duration;

use super::Shared;
use crate::mutant::Mutant;
use crate::sync::{Arc, AtomicUsize, MutexGuard, Ordering};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const ERRAND_WITHOUT_A_COUNT: Mutant = Mutant("errand_without_a_count");

/// A piece of work that one thread of a crew does once. It must not panic.
pub type Errand = Box<dyn FnOnce(&Shift<'_>) + Send>;

/// How long errands lie in the queue, without one being taken, before the crew gets one more thread.
#[cfg(not(any(loom, shuttle)))]
const STUCK: Duration = Duration::from_millis(100);
/// The thread that looks for stuck errands ends after this many intervals of [`STUCK`] in a row without an errand in
/// the queue.
#[cfg(not(any(loom, shuttle)))]
const QUIET_LOOKS: u32 = 5;

/// A thread of a crew while it does an errand.
pub struct Shift<'c> {
    errands: &'c AtomicUsize,
}

impl Shift<'_> {
    /// Whether other errands wait for a thread. An errand that is long should end, and send a new one for the rest.
    #[inline]
    pub fn is_wanted_elsewhere(&self) -> bool {
        self.errands.load(Ordering::Relaxed) > 0
    }
}

impl fmt::Debug for Shift<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shift").field("waiting", &self.errands.load(Ordering::Relaxed)).finish()
    }
}

/// Sends errands to a crew. It does not keep the crew alive: when the crew was dropped, errands are dropped too.
#[derive(Clone)]
pub struct Dispatcher(pub(super) Arc<Shared>);

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").finish_non_exhaustive()
    }
}

/// The errands of a crew, in its state.
pub(super) struct Errands {
    queue: VecDeque<Errand>,
    /// How many errands were taken out of the queue.
    taken: u64,
    /// Whether a thread looks for errands that nobody takes.
    has_lookout: bool,
}

impl Errands {
    pub(super) fn new() -> Self {
        Self { queue: VecDeque::new(), taken: 0, has_lookout: false }
    }

    /// Takes all errands out.
    pub(super) fn clear(&mut self) -> VecDeque<Errand> {
        std::mem::take(&mut self.queue)
    }

    pub(super) fn are_waiting(&self) -> bool {
        !self.queue.is_empty()
    }
}

impl Dispatcher {
    /// For how many threads the crew was made.
    pub fn threads(&self) -> usize {
        self.0.size
    }

    /// Sends an errand, which some thread of the crew does after those that were sent before.
    pub fn send(&self, errand: Errand) {
        let Self(shared) = self;
        let mut state = shared.lock();
        if state.closing {
            drop(state);
            return; // and only now the errand is dropped
        }
        state.errands.queue.push_back(errand);
        shared.note_errands(&state.errands);
        if !ERRAND_WITHOUT_A_COUNT.is_on() {
            shared.calls.fetch_add(1, Ordering::Release);
        }
        if state.sleeping > 0 {
            shared.idle.notify_one();
            return;
        }
        if shared.backoff.is_polling() {
            return; // a helper polls, and looks at the count under the lock before it sleeps
        }
        // Helpers that wait inside a job leave it for an errand.
        for entry in state.jobs.iter().filter(|entry| entry.inside > 0) {
            // SAFETY: the state is locked and the entry is in it.
            unsafe { (*entry.nudge.0)() };
        }
        Shared::look_out_if_all_are_busy(shared, state);
    }
}

impl Shared {
    /// Tells without a lock how many errands wait.
    fn note_errands(&self, errands: &Errands) {
        self.errands.store(errands.queue.len(), Ordering::Relaxed);
    }

    /// Does the next errand, if there is one. Returns the locked state again.
    pub(super) fn run_errand<'s>(
        this: &'s Arc<Self>,
        mut state: MutexGuard<'s, super::State>,
    ) -> (MutexGuard<'s, super::State>, bool) {
        let Some(errand) = state.errands.queue.pop_front() else { return (state, false) };
        state.errands.taken += 1;
        state.busy += 1;
        this.note_errands(&state.errands);
        Self::look_out_if_all_are_busy(this, state);
        this.callers.fetch_add(1, Ordering::Relaxed);
        errand(&Shift { errands: &this.errands });
        let mut state = this.lock();
        state.busy -= 1;
        this.one_caller_less(&state);
        (state, true)
    }

    /// Makes sure that a thread looks out if errands wait and all threads are busy: the busy threads may wait for one
    /// of these errands. Called whenever an errand comes, and whenever a thread becomes busy while others wait. Unlocks
    /// the state.
    fn look_out_if_all_are_busy(this: &Arc<Self>, mut state: MutexGuard<'_, super::State>) {
        let is_needed =
            state.errands.are_waiting() && state.busy >= state.hired && !state.errands.has_lookout;
        state.errands.has_lookout |= is_needed;
        drop(state);
        if is_needed {
            Self::hire_lookout(this);
        }
    }

    /// Starts the thread that looks for errands which nobody takes. The caller has set `has_lookout`.
    #[cfg(not(any(loom, shuttle)))]
    fn hire_lookout(this: &Arc<Self>) {
        let shared = Arc::clone(this);
        if !this.spawn(move |number| Self::look_out(&shared, number)) {
            this.lock().errands.has_lookout = false;
        }
    }

    /// Model checkers have no clock.
    #[cfg(any(loom, shuttle))]
    fn hire_lookout(_: &Arc<Self>) {}

    #[cfg(not(any(loom, shuttle)))]
    fn look_out(this: &Arc<Self>, number: usize) {
        this.is_home(number);
        let mut state = this.lock();
        let mut quiet = 0;
        while !state.closing && quiet < QUIET_LOOKS {
            let (seen, waited) = (state.errands.taken, state.errands.are_waiting());
            let looked = this.lookout.wait_timeout(state, STUCK).unwrap_or_else(|error| error.into_inner());
            let is_time = looked.1.timed_out();
            state = looked.0;
            if state.closing || !is_time {
                continue;
            }
            let has_taken = state.errands.taken != seen;
            quiet = if has_taken || state.errands.are_waiting() { 0 } else { quiet + 1 };
            if waited && !has_taken && state.errands.are_waiting() {
                state.hired += 1;
                drop(state);
                let shared = Arc::clone(this);
                let is_hired = this.spawn(move |number| Self::help(&shared, number, true));
                state = this.lock();
                state.hired -= usize::from(!is_hired);
            }
        }
        state.errands.has_lookout = false;
    }
}
