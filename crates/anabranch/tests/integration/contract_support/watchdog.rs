//! Turns a hang into a failure with a message.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, Once};
use std::time::{Duration, Instant};

use super::world::Planted;
use anabranch::Monitor;

/// Long enough for any test here, even on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(60);

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
    match finished.recv_timeout(limit) {
        Ok(result) => {
            thread.join().expect("a body whose panic was caught");
            Some(result.unwrap_or_else(|payload| resume_unwind(payload)))
        }
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => panic!("the body ended without an answer"),
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
        let open = self.0.0.lock().unwrap();
        let (open, _) = self.0.1.wait_timeout_while(open, limit, |open| !*open).unwrap();
        *open
    }

    /// Waits until the gate is open.
    ///
    /// # Panics
    /// If the gate does not open within the limit for hangs.
    pub fn pass(&self) {
        assert!(self.opens_within(LIMIT / 2), "a gate stayed shut");
    }
}

/// A worker of a watched run calls it to wait until every other worker has nothing to do. What they did until
/// then, such as a failure that they noted, is known to the run.
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
    let began = Instant::now();
    while !condition() {
        if began.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    true
}
