//! Waiting without lost wake-ups.
//!
//! A thread that has found nothing to do *prepares* to wait, looks once more, and only then waits. A thread
//! that has made something available *notifies*. Sequentially consistent fences order the two: either the
//! notifier sees the sleeper, or the sleeper's last look sees what the notifier has made available.
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
//!         let key = event.prepare();
//!         if ready.load(Ordering::Acquire) {
//!             event.leave(); // the loop looks again: this thread may have used up a notification
//!         } else {
//!             event.wait(key);
//!         }
//!     }
//! });
//! ```

use std::{fmt, time::Duration};

use crate::backoff::{Backoff, Polling};
use crate::everybody;
use crate::mutant::Mutant;
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Condvar, Mutex, Ordering, Padded, fence, lock};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const EPOCH_AFTER_CLEAR: Mutant = Mutant("epoch_after_clear");
const NO_FENCE_IN_ANNOUNCE: Mutant = Mutant("no_fence_in_announce");
const CLEAR_ON_LEAVING_ONLY: Mutant = Mutant("clear_on_leaving_only");
const LIGHT_WHOEVER_SLEEPS: Mutant = Mutant("light_whoever_sleeps");
const NO_FENCE_IN_PREPARE: Mutant = Mutant("no_fence_in_prepare");
const NO_CLEAR_ON_LEAVING: Mutant = Mutant("no_clear_on_leaving");
const NO_FENCE_IN_LEAVE: Mutant = Mutant("no_fence_in_leave");
const NO_FENCE_IN_NOTIFY: Mutant = Mutant("no_fence_in_notify");
const NO_EPOCH_IN_NOTIFY_ALL: Mutant = Mutant("no_epoch_in_notify_all");
const NOBODY_IS_RECALLED: Mutant = Mutant("nobody_is_recalled");
const SETTLES_WITHOUT_A_LOOK: Mutant = Mutant("settles_without_a_look");
const NO_LOOK_AT_THE_EPOCH: Mutant = Mutant("no_look_at_the_epoch");
const VACATES_WHATEVER_THE_EPOCH: Mutant = Mutant("vacates_whatever_the_epoch");
const NOT_ALL_ARE_RECALLED: Mutant = Mutant("not_all_are_recalled");

/// An event count. Threads wait on it until *something has changed*, and then find out themselves what.
///
/// - A notification that is given after a thread has prepared to wait wakes that thread, or another waiting
///   thread.
/// - A thread misses nothing if it looks after [`prepare`](Self::prepare) and after every return of
///   [`wait`](Self::wait) and [`leave`](Self::leave).
/// - `wait` may return without a notification.
/// - While no thread waits, a notification costs one fence and one load, or one load if the event count is
///   [light](Self::make_light).
#[derive(Debug)]
pub struct EventCount {
    /// Rises by 1 with every notification that was delivered.
    epoch: Padded<AtomicU64>,
    /// The number of threads that have called `prepare` and have not left yet, plus the bit [`LIGHT`] while the event count is
    /// light.
    sleepers: Padded<AtomicUsize>,
    /// A wake-up is under way, and it covers further notifications.
    ///
    /// The flag is cleared when a thread prepares (after it has read the epoch) and when it leaves. Clearing
    /// it only on leaving is not enough: a flag that was set just after the last sleeper left would stay set
    /// for ever.
    waking: Padded<AtomicBool>,
    waiting: Mutex<Waiting>,
    condvar: Condvar,
    /// If set, a notification calls this instead of waking a thread. It is for a user that arranges the waiting itself.
    hook: Option<Hook>,
    /// Whether somebody has made the event count light. If nobody has, its models need not branch on it.
    #[cfg(loom)]
    was_light: std::sync::atomic::AtomicBool,
}

/// The bit of `sleepers` that says that the event count is light: while no thread waits, a notification passes no fence.
///
/// A thread that prepares to wait finds the bit, and makes every thread pass a fence before its last look. Then it
/// clears the bit. Another thread that prepares at the same time finds the bit too, or finds it cleared after that
/// fence. The bit is only set while no thread is between `prepare` and `leave`.
const LIGHT: usize = 1 << (usize::BITS - 1);

/// The threads that a notification can wake.
#[derive(Default)]
struct Waiting {
    /// How many threads wait on the condition variable.
    threads: usize,
    /// The recall of a thread to each slot that was [vacated](EventCount::vacate).
    slots: Vec<Recall>,
}

/// Brings a thread back to a slot that was [vacated](EventCount::vacate). It is called at most once.
pub type Recall = Box<dyn FnOnce() + Send>;

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, slots } = self;
        f.debug_struct("Waiting").field("threads", threads).field("slots", &slots.len()).finish()
    }
}

/// The function that a notification calls if the waiting is arranged elsewhere.
struct Hook(Box<dyn Fn() + Send + Sync>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").finish_non_exhaustive()
    }
}

/// The state of an event count at the time when a thread prepared to wait.
#[derive(Debug, Clone, Copy)]
#[must_use = "a thread that has prepared to wait must call `wait` or `leave`"]
pub struct WaitKey {
    epoch: u64,
}

impl Default for EventCount {
    fn default() -> Self {
        Self::new()
    }
}

impl EventCount {
    /// Creates an event count on which no thread waits.
    pub fn new() -> Self {
        Self {
            epoch: Padded::new(AtomicU64::new(0)),
            sleepers: Padded::new(AtomicUsize::new(0)),
            waking: Padded::new(AtomicBool::new(false)),
            waiting: Mutex::new(Waiting::default()),
            condvar: Condvar::new(),
            hook: None,
            #[cfg(loom)]
            was_light: Default::default(),
        }
    }

    /// Creates an event count that wakes no thread itself: [`notify_all`](Self::notify_all) calls `hook`,
    /// which finds out which thread to wake. It must be called only after a fence, and only if there are
    /// [sleepers](Self::sleepers).
    pub fn with_hook(hook: Box<dyn Fn() + Send + Sync>) -> Self {
        Self { hook: Some(Hook(hook)), ..Self::new() }
    }

    /// Announces a wait that the hook ends. The caller must look once more afterwards: either the thread that
    /// publishes something sees the sleeper, or this look sees what was published.
    pub fn announce(&self) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        if !NO_FENCE_IN_ANNOUNCE.is_on() {
            fence(Ordering::SeqCst);
        }
    }

    /// Takes one announcement back.
    pub fn withdraw(&self) {
        self.sleepers.fetch_sub(1, Ordering::Release);
    }

    /// Announces that the calling thread is about to wait. The thread must look once more afterwards, and
    /// then call [`wait`](Self::wait) or [`leave`](Self::leave).
    pub fn prepare(&self) -> WaitKey {
        // The epoch is read before the flag is cleared, so a notification between the two is seen as a
        // change.
        let mut epoch = self.epoch.load(Ordering::Acquire);
        let before = self.sleepers.fetch_add(1, Ordering::SeqCst);
        if !CLEAR_ON_LEAVING_ONLY.is_on() {
            self.waking.swap(false, Ordering::AcqRel);
        }
        if EPOCH_AFTER_CLEAR.is_on() {
            epoch = self.epoch.load(Ordering::Acquire);
        }
        if before & LIGHT != 0 {
            // From here on no notification is light, because this thread is counted.
            everybody::fence();
            if !LIGHT_WHOEVER_SLEEPS.is_on() {
                self.sleepers.fetch_and(!LIGHT, Ordering::SeqCst);
            }
        }
        if !NO_FENCE_IN_PREPARE.is_on() {
            fence(Ordering::SeqCst);
        }
        WaitKey { epoch }
    }

    /// Makes notifications cheap from now on while no thread waits, if the system supports it and no thread waits now.
    ///
    /// The next thread that prepares to wait needs about 10 us more, and makes notifications expensive again. So this
    /// is for threads that have found work for a while.
    pub fn make_light(&self) {
        #[cfg(loom)]
        self.was_light.store(true, Ordering::Relaxed);
        if everybody::can_be_fenced() {
            let _ = self.sleepers.compare_exchange(0, LIGHT, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Synchronises with notifications without a fence: after this call, the next look of the calling thread sees everything
    /// that was published before them. A thread that does not wait, because it leaves, calls this before its last look;
    /// [`prepare`](Self::prepare) does the same.
    pub fn settle(&self) {
        if !SETTLES_WITHOUT_A_LOOK.is_on() && self.sleepers.load(Ordering::SeqCst) & LIGHT != 0 {
            // While this thread counts as one that waits, no notification is light.
            let _ = self.prepare();
            self.leave();
        }
    }

    /// Returns whether no thread waits for certain, without a fence.
    ///
    /// If the answer is yes, the caller need not notify: each thread that may have to be woken looks again before it
    /// sleeps, and then sees what the caller has published.
    #[inline]
    pub fn is_light(&self) -> bool {
        // In a model `light` is a fence. An event that is not light must do without this one.
        #[cfg(loom)]
        if !self.was_light.load(Ordering::Relaxed) || self.sleepers.load(Ordering::Relaxed) & LIGHT == 0 {
            return false;
        }
        everybody::light();
        let state = self.sleepers.load(Ordering::Relaxed);
        if LIGHT_WHOEVER_SLEEPS.is_on() { state & LIGHT != 0 } else { state == LIGHT }
    }

    /// Waits until a notification was given since `key` was made. It may return spuriously.
    pub fn wait(&self, key: WaitKey) {
        let mut waiting = lock(&self.waiting);
        if NO_LOOK_AT_THE_EPOCH.is_on() || self.epoch.load(Ordering::Acquire) == key.epoch {
            waiting.threads += 1;
            waiting = self.condvar.wait(waiting).unwrap_or_else(|poisoned| poisoned.into_inner());
            waiting.threads -= 1;
        }
        drop(waiting);
        self.leave();
    }

    /// Waits until `look` returns a value: it polls for as long as that may pay, and then sleeps.
    ///
    /// A thread that makes `look` succeed must notify afterwards.
    #[cold]
    pub fn wait_until<R>(&self, backoff: &Backoff, how: Polling, mut look: impl FnMut() -> Option<R>) -> R {
        let mut found = backoff.poll(how, &mut look);
        loop {
            if let Some(found) = found {
                return found;
            }
            let key = self.prepare();
            found = look();
            if found.is_some() { self.leave() } else { self.wait(key) }
        }
    }

    /// Like [`wait`](Self::wait), but returns after `timeout` at the latest. Model checkers have no clock,
    /// and never time out.
    pub fn wait_for(&self, key: WaitKey, timeout: Duration) {
        let mut waiting = lock(&self.waiting);
        if self.epoch.load(Ordering::Acquire) == key.epoch {
            waiting.threads += 1;
            waiting = self
                .condvar
                .wait_timeout(waiting, timeout)
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .0;
            waiting.threads -= 1;
        }
        drop(waiting);
        self.leave();
    }

    /// Waits without a thread: the calling thread goes and does something else, and its slot is vacant. Instead of waking a
    /// thread, a notification calls `recall`, which must bring some thread back to the slot. That thread calls
    /// [`leave`](Self::leave) and looks.
    ///
    /// Returns `false` if a notification was given since `key` was made. Then the thread keeps its slot and looks again, as
    /// after [`wait`](Self::wait).
    pub fn vacate(&self, key: WaitKey, recall: Recall) -> bool {
        let mut waiting = lock(&self.waiting);
        if VACATES_WHATEVER_THE_EPOCH.is_on() || self.epoch.load(Ordering::Acquire) == key.epoch {
            waiting.slots.push(recall);
            return true;
        }
        drop(waiting);
        self.leave();
        false
    }

    /// Takes the announcement back.
    ///
    /// The thread must look once more after this call too: a notification that would have woken another
    /// thread may have been spent on this one.
    pub fn leave(&self) {
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        // While this thread was being woken, other threads left out their notifications. The fence makes the
        // look after `leave` see what those threads have published.
        if !NO_CLEAR_ON_LEAVING.is_on() {
            self.waking.store(false, Ordering::Relaxed);
        }
        if !NO_FENCE_IN_LEAVE.is_on() {
            fence(Ordering::SeqCst);
        }
    }

    /// Wakes one waiting thread, if there is one and no wake-up is under way. The caller must publish what the woken
    /// thread is to find before this call.
    #[inline]
    pub fn notify(&self) {
        if self.is_light() {
            return;
        }
        if !NO_FENCE_IN_NOTIFY.is_on() {
            fence(Ordering::SeqCst);
        }
        if self.sleepers() > 0 {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        // The load keeps the cache line shared while a wake-up is under way. A thread that clears the flag
        // passes a fence and then looks. So either this thread sees the flag cleared, or that look sees what
        // this thread has published.
        if !self.waking.load(Ordering::Relaxed) && !self.waking.swap(true, Ordering::AcqRel) {
            self.epoch.fetch_add(1, Ordering::AcqRel);
            let mut waiting = lock(&self.waiting);
            if waiting.threads > 0 {
                self.condvar.notify_one();
            } else if let Some(recall) = waiting.slots.pop() {
                // Not under the lock: the call may take other locks.
                drop(waiting);
                if !NOBODY_IS_RECALLED.is_on() {
                    recall();
                }
            }
        }
    }

    /// Wakes every waiting thread. It is for the end of a run, and for a change that only one particular
    /// thread can use.
    #[cold]
    pub fn notify_all(&self) {
        // The caller of an event count with a hook has passed a fence, and has seen a waiting thread.
        if let Some(Hook(hook)) = &self.hook {
            return hook();
        }
        // No fence is needed: a thread that prepares sees the new epoch, at the latest when it takes the
        // lock.
        if !NO_EPOCH_IN_NOTIFY_ALL.is_on() {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        let mut waiting = lock(&self.waiting);
        if waiting.threads > 0 {
            self.condvar.notify_all();
        }
        if NOT_ALL_ARE_RECALLED.is_on() {
            return;
        }
        let slots = std::mem::take(&mut waiting.slots);
        drop(waiting);
        slots.into_iter().for_each(|recall| recall());
    }

    /// How many threads have announced that they wait, and how many slots are vacant. A thread that has left sees a number without
    /// itself; otherwise the number may be outdated.
    pub fn sleepers(&self) -> usize {
        self.sleepers.load(Ordering::Relaxed) & !LIGHT
    }
}
