//! Polling for a short time before a thread sleeps.
//!
//! Waking a thread costs the two threads together some 50 us. A thread that finds something while it polls saves them that.
//! A thread that polls in vain takes the processor from others, so it polls less the more often that happens.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::sync::spin_hint;

/// How long a thread polls while polling pays. The reasons differ, so each has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polling {
    /// Another thread of the program is about to publish something: 50 us, which is what a sleep would cost both.
    Busy,
    /// The same, where there are more threads than processors: 20 us. The poller may hold up the thread that it waits for.
    Crowded,
    /// The program outside of a run posts or takes an item at a time that nobody knows: 5 us, and most of them are given to
    /// other threads.
    Outside,
    /// The user has asked for threads that never sleep.
    Always,
}

/// How long a thread polls after its last polls have found nothing.
const SHORT_POLL_TIME: Duration = Duration::from_micros(2);
/// After this many polls in a row that have found nothing, a thread polls for [`SHORT_POLL_TIME`] only.
const FAILED_POLLS: u8 = 3;
/// After this many polls in a row that have found nothing, a thread polls in only one of [`WAITS_A_POLL`] waits. If two
/// threads share a core, the one that polls keeps the other one from running.
const HOPELESS_POLLS: u8 = 16;
/// One of this many waits polls after [`HOPELESS_POLLS`], to find out whether polling pays again.
const WAITS_A_POLL: u8 = 16;
/// The most pauses between two looks. Each look may take a cache line away from the other side, so a thread that finds
/// nothing looks less and less often. The other side then gets more done per transfer of the line.
const MOST_PAUSES: u32 = 16;
/// A thread that waits for something [`Outside`](Polling::Outside) yields to other threads after this time.
const YIELDS_AFTER: Duration = Duration::from_micros(1);

impl Polling {
    fn longest(self) -> Duration {
        match self {
            Self::Busy => Duration::from_micros(50),
            Self::Crowded => Duration::from_micros(20),
            Self::Outside => Duration::from_micros(5),
            Self::Always => Duration::MAX,
        }
    }
}

/// Remembers whether polling has paid lately: for one thread, or for all threads that wait for the same things. Only
/// one of these polls at a time.
///
/// ```
/// use anabranch_record::backoff::{Backoff, Polling};
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let (backoff, ready) = (Backoff::new(), AtomicBool::new(false));
/// std::thread::scope(|scope| {
///     scope.spawn(|| ready.store(true, Ordering::Release));
///     let look = || ready.load(Ordering::Acquire).then_some("ready");
///     // `None` says that the thread is to sleep now: see `EventCount`.
///     assert!(matches!(backoff.poll(Polling::Busy, look), None | Some("ready")));
/// });
/// ```
#[derive(Debug, Default)]
pub struct Backoff {
    /// Waits in a row in which polling has not paid, below `HOPELESS_POLLS + WAITS_A_POLL`.
    vain: AtomicU8,
    is_polling: AtomicBool,
}

impl Backoff {
    /// Creates a backoff that expects polling to pay.
    pub const fn new() -> Self {
        Self { vain: AtomicU8::new(0), is_polling: AtomicBool::new(false) }
    }

    /// Whether a thread polls at this moment.
    #[inline]
    pub fn is_polling(&self) -> bool {
        self.is_polling.load(Ordering::Relaxed)
    }

    /// Calls `look` until it returns a value, for as long as that may pay. It returns `None` at once if another thread polls,
    /// and under a model checker: polling would add states there and find nothing that a sleeper misses.
    #[cold]
    pub fn poll<R>(&self, how: Polling, mut look: impl FnMut() -> Option<R>) -> Option<R> {
        if cfg!(any(loom, shuttle)) || self.is_polling.swap(true, Ordering::Relaxed) {
            return None;
        }
        let vain = self.vain.load(Ordering::Relaxed);
        let limit = match vain {
            _ if how == Polling::Always => Some(how.longest()),
            0..FAILED_POLLS => Some(how.longest()),
            FAILED_POLLS..=HOPELESS_POLLS => Some(how.longest().min(SHORT_POLL_TIME)),
            _ => None,
        };
        let found = limit.and_then(|limit| poll(how, limit, &mut look));
        let next = if vain + 1 == HOPELESS_POLLS + WAITS_A_POLL { HOPELESS_POLLS } else { vain + 1 };
        self.vain.store(if found.is_some() { 0 } else { next }, Ordering::Relaxed);
        self.is_polling.store(false, Ordering::Relaxed);
        found
    }
}

fn poll<R>(how: Polling, limit: Duration, look: &mut impl FnMut() -> Option<R>) -> Option<R> {
    let start = Instant::now();
    let mut pauses = 1;
    loop {
        let polled = start.elapsed();
        if how == Polling::Outside && polled >= YIELDS_AFTER {
            std::thread::yield_now();
        } else {
            (0..pauses).for_each(|_| spin_hint());
            pauses = MOST_PAUSES.min(pauses * 2);
        }
        if let Some(found) = look() {
            return Some(found);
        }
        if polled >= limit {
            return None;
        }
    }
}
