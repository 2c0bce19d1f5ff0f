//! Waiting without lost wake-ups: one event count for everybody who waits for something in a run.
//!
//! A thread that found nothing to do *prepares* to wait, looks once more, and only then waits. A thread
//! that made something available *notifies*. The two meet through sequentially consistent fences: either
//! the notifier sees the sleeper, or the sleeper's last look sees what the notifier made available.
//!
//! ```
//! use anabranch_record::EventCount;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! let (event, ready) = (EventCount::new(), AtomicBool::new(false));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         ready.store(true, Ordering::Release);
//!         event.notify();
//!     });
//!     while !ready.load(Ordering::Acquire) {
//!         let ticket = event.prepare();
//!         if ready.load(Ordering::Acquire) {
//!             event.leave(); // then look again: a notice may have been meant for us
//!         } else {
//!             event.wait(ticket);
//!         }
//!     }
//! });
//! ```

use std::time::Duration;

use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Condvar, Mutex, Ordering, Padded, fence, lock};

/// An event count: threads wait on it for *something to have changed*, and look for themselves what.
///
/// Promises: a notice given after a thread has prepared to wait wakes that thread or another one that
/// waits; a thread that looks after [`prepare`](Self::prepare) and after every return of
/// [`wait`](Self::wait) and [`leave`](Self::leave) misses nothing. Returns of `wait` may be spurious.
/// While nobody waits, a notice costs one fence and one load.
#[derive(Debug)]
pub struct EventCount {
    /// Rises by one with every notice that was delivered.
    epoch: Padded<AtomicU64>,
    /// How many threads are between `prepare` and their leave.
    sleepers: Padded<AtomicUsize>,
    /// A wake-up is under way: further notices are covered by it. Cleared on entry (after the epoch was
    /// read) and on leaving: with the second alone, a flag raised just after the last sleeper left would
    /// stay up for ever.
    waking: Padded<AtomicBool>,
    /// How many threads are in the condition variable.
    waiting: Mutex<usize>,
    condvar: Condvar,
}

/// What a thread knew when it prepared to wait.
#[derive(Debug, Clone, Copy)]
#[must_use = "a thread that has prepared must wait or leave"]
pub struct Ticket {
    epoch: u64,
}

impl Default for EventCount {
    fn default() -> Self {
        Self::new()
    }
}

impl EventCount {
    /// An event count on which nobody waits.
    pub fn new() -> Self {
        Self {
            epoch: Padded(AtomicU64::new(0)),
            sleepers: Padded(AtomicUsize::new(0)),
            waking: Padded(AtomicBool::new(false)),
            waiting: Mutex::new(0),
            condvar: Condvar::new(),
        }
    }

    /// Announces that the calling thread is about to wait. It must look once more afterwards, then call
    /// [`wait`](Self::wait) or [`leave`](Self::leave).
    pub fn prepare(&self) -> Ticket {
        // The epoch is read before the flag is cleared: a notice between the two is seen as a change.
        #[cfg(not(mutant = "epoch_after_clear"))]
        let epoch = self.epoch.load(Ordering::Acquire);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        #[cfg(not(mutant = "clear_on_leaving_only"))]
        self.waking.swap(false, Ordering::AcqRel);
        #[cfg(mutant = "epoch_after_clear")]
        let epoch = self.epoch.load(Ordering::Acquire);
        #[cfg(not(mutant = "no_fence_in_prepare"))]
        fence(Ordering::SeqCst);
        Ticket { epoch }
    }

    /// Waits until a notice has been given since the ticket was taken, or returns early for no reason.
    pub fn wait(&self, ticket: Ticket) {
        let mut waiting = lock(&self.waiting);
        if cfg!(mutant = "no_look_at_the_epoch") || self.epoch.load(Ordering::Acquire) == ticket.epoch {
            *waiting += 1;
            waiting = self.condvar.wait(waiting).unwrap_or_else(|poisoned| poisoned.into_inner());
            *waiting -= 1;
        }
        drop(waiting);
        self.leave();
    }

    /// As [`wait`](Self::wait), but returns after `most` at the latest. Model checkers know no time: there it waits.
    pub fn wait_for(&self, ticket: Ticket, most: Duration) {
        let mut waiting = lock(&self.waiting);
        if self.epoch.load(Ordering::Acquire) == ticket.epoch {
            *waiting += 1;
            waiting =
                self.condvar.wait_timeout(waiting, most).unwrap_or_else(|poisoned| poisoned.into_inner()).0;
            *waiting -= 1;
        }
        drop(waiting);
        self.leave();
    }

    /// Takes the announcement back. The thread must look once more after this too: the notice that would
    /// have woken another thread may have been spent on it.
    pub fn leave(&self) {
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        // The fence makes the look after this see what those have published whose notices were spared because this
        // thread was being woken.
        #[cfg(not(mutant = "no_clear_on_leaving"))]
        self.waking.store(false, Ordering::Relaxed);
        #[cfg(not(mutant = "no_fence_in_leave"))]
        fence(Ordering::SeqCst);
    }

    /// Wakes one waiting thread, if there is one and no wake-up is under way already. What the woken thread
    /// shall find must have been published before.
    #[inline]
    pub fn notify(&self) {
        #[cfg(not(mutant = "no_fence_in_notify"))]
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        // The load spares the line while a wake-up takes its time. Whoever clears the flag makes a fence, then looks:
        // either we see the flag clear, or that look sees what we have published.
        if !self.waking.load(Ordering::Relaxed) && !self.waking.swap(true, Ordering::AcqRel) {
            self.epoch.fetch_add(1, Ordering::AcqRel);
            let waiting = lock(&self.waiting);
            if *waiting > 0 {
                self.condvar.notify_one();
            }
        }
    }

    /// Wakes every waiting thread: for the end of a run, and for a change that only one certain thread can use.
    #[cold]
    pub fn notify_all(&self) {
        // No fence: whoever prepares meets this in the epoch or, at the latest, in the lock.
        #[cfg(not(mutant = "no_epoch_in_notify_all"))]
        self.epoch.fetch_add(1, Ordering::AcqRel);
        let waiting = lock(&self.waiting);
        if *waiting > 0 {
            self.condvar.notify_all();
        }
    }

    /// How many threads have announced that they wait: for reports, not for decisions.
    pub fn sleepers(&self) -> usize {
        self.sleepers.load(Ordering::Relaxed)
    }
}
