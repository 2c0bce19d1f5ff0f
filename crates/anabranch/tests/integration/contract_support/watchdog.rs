//! Turns a hang into a failure with a message.
//!
//! A time limit counts the time in which the threads of the process ran or slept. A thread that waits for a processor does not
//! hang, however long that takes on a busy machine.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, Once};
use std::time::{Duration, Instant};

use super::planted::Planted;
use super::process;
use anabranch::Monitor;

/// Long enough for any test here.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A time limit. In each second it counts the part in which no thread of the process had to wait for a processor: the wait of
/// the thread that waited longest is left out. If the system does not tell how long threads wait, all time counts. While the
/// process is stopped, none does.
#[derive(Debug)]
struct Patience {
    limit: Duration,
    /// The time that counts until `since`.
    spent: Duration,
    since: Instant,
    /// How long each thread had waited for a processor at `since`. `None` in the first second.
    waits: Option<HashMap<u64, Duration>>,
}

impl Patience {
    /// How often it looks at the threads.
    const STEP: Duration = Duration::from_secs(1);

    fn new(limit: Duration) -> Self {
        Self { limit, spent: Duration::ZERO, since: Instant::now(), waits: None }
    }

    /// How long one can wait before the limit is looked at again. `None` if it is over.
    fn left(&mut self) -> Option<Duration> {
        let passed = self.since.elapsed();
        if passed >= Self::STEP {
            self.since += passed;
            self.count(passed, process::waits_for_processors());
        }
        let left = self.limit.saturating_sub(self.spent + self.since.elapsed());
        (!left.is_zero()).then_some(left.min(Self::STEP))
    }

    /// Counts the time that has passed since the threads were looked at. `waits` says how long each of them has waited by now.
    fn count(&mut self, passed: Duration, waits: HashMap<u64, Duration>) {
        let longest = self.waits.as_ref().and_then(|before| {
            // A thread that has begun meanwhile had not waited before.
            let before = |thread| before.get(thread).copied().unwrap_or_default();
            waits.iter().map(|(thread, wait)| wait.saturating_sub(before(thread))).max()
        });
        // If this thread could not look for longer, the others may not have run either.
        let passed = passed.min(2 * Self::STEP);
        self.spent += passed.saturating_sub(longest.unwrap_or_default());
        self.waits = Some(waits);
    }
}

/// Runs `body` on a thread of its own and returns its result, or resumes its panic. After [`LIMIT`] it panics
/// with the message that the body hangs.
pub fn within<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    finishes_within(LIMIT, body).unwrap_or_else(|| panic!("hangs: not finished after {LIMIT:?}"))
}

/// Like [`within`], with another limit, and `None` for a hang. A body that hangs is left running.
pub fn finishes_within<R: Send + 'static>(
    limit: Duration,
    body: impl FnOnce() -> R + Send + 'static,
) -> Option<R> {
    let (done, finished) = channel();
    let body = move || {
        // The receiver may have given up already.
        let _ = done.send(catch_unwind(AssertUnwindSafe(body)));
    };
    let thread = std::thread::Builder::new().name("body".into()).spawn(body).expect("a thread for the body");
    let mut patience = Patience::new(limit);
    loop {
        // This thread may have waited for a processor too, so it looks once more when the limit is over.
        let left = patience.left();
        match finished.recv_timeout(left.unwrap_or_default()) {
            Ok(result) => {
                thread.join().expect("a body whose panic was caught");
                return Some(result.unwrap_or_else(|payload| resume_unwind(payload)));
            }
            Err(RecvTimeoutError::Timeout) if left.is_none() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => panic!("the body ended without an answer"),
        }
    }
}

/// The payload of the panic of `body`. It fails if `body` does not panic.
pub fn panic_of<R>(body: impl FnOnce() -> R) -> Box<dyn Any + Send> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(_) => panic!("no panic came"),
        Err(payload) => payload,
    }
}

/// The message of a panic, if it has one.
pub fn message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap_or_else(|| "not a text".into())
}

/// How the message of a panic begins that a test plants.
pub const PLANTED: &str = "planted: ";

/// Suppresses the messages of panics that the tests plant: [`Planted`] values, and messages that begin with
/// [`PLANTED`]. Other panics are printed. The hook stays for the life of the process, which all tests share.
pub fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<Planted>() && !message(info.payload()).starts_with(PLANTED) {
                before(info);
            }
        }));
    });
}

/// An event that happens once and can be waited for.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    pub fn is_open(&self) -> bool {
        *self.0.0.lock().unwrap()
    }

    /// Waits until the gate is open. Returns whether it opened in time.
    pub fn opens_within(&self, limit: Duration) -> bool {
        let mut patience = Patience::new(limit);
        let mut open = self.0.0.lock().unwrap();
        while !*open {
            let Some(left) = patience.left() else { return false };
            open = self.0.1.wait_timeout(open, left).unwrap().0;
        }
        true
    }

    /// Waits until the gate is open.
    ///
    /// # Panics
    /// If the gate does not open within the limit for hangs.
    pub fn pass(&self) {
        assert!(self.opens_within(LIMIT / 2), "a gate stayed shut");
    }
}

/// A worker of a watched run calls it to wait until every other worker has nothing to do. Then the run
/// knows all that they did, such as a failure that they noted.
pub fn others_rest(monitor: &Monitor) {
    let rest = || monitor.snapshots().iter().all(|run| run.waiting + 1 >= run.workers);
    assert!(comes_true(LIMIT / 2, rest), "{}", monitor.snapshots()[0]);
}

/// Whether `condition` keeps holding for a moment. Code that breaks it needs time to show this. Code that
/// keeps it passes, however slow the machine is.
pub fn stays_true(mut condition: impl FnMut() -> bool) -> bool {
    !comes_true(Duration::from_millis(20), || !condition())
}

/// Waits until `condition` holds. Returns whether it did in time.
pub fn comes_true(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let mut patience = Patience::new(limit);
    loop {
        let is_over = patience.left().is_none();
        if condition() {
            return true;
        }
        if is_over {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_limit_counts_no_time_in_which_a_thread_waits_for_a_processor() {
    let millis = Duration::from_millis;
    let mut patience = Patience::new(millis(60_000));
    // The first look only notes what was before.
    patience.count(millis(1_000), HashMap::from([(1, millis(500)), (2, millis(0))]));
    assert_eq!(patience.spent, millis(1_000));
    patience.count(millis(1_000), HashMap::from([(1, millis(500)), (2, millis(0))]));
    assert_eq!(patience.spent, millis(2_000), "all threads ran or slept");
    patience.count(millis(1_000), HashMap::from([(1, millis(700)), (2, millis(900))]));
    assert_eq!(patience.spent, millis(2_100));
    patience.count(millis(1_000), HashMap::from([(3, millis(600))]));
    assert_eq!(patience.spent, millis(2_500), "a new thread");
    patience.count(millis(1_000), HashMap::from([(3, millis(1_700))]));
    assert_eq!(patience.spent, millis(2_500), "a wait of the second before");
    patience.count(millis(3_600_000), HashMap::from([(3, millis(1_700))]));
    assert_eq!(patience.spent, millis(4_500), "the process was stopped for an hour");
}

#[test]
fn a_body_that_sleeps_for_ever_is_a_hang() {
    let (end, sleeps) = channel::<()>();
    assert_eq!(finishes_within(Duration::from_millis(50), move || sleeps.recv().is_ok()), None);
    drop(end);
}
