//! A hang is a failure with a message, not a stuck test run.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, Once};
use std::time::{Duration, Instant};

use super::world::Planted;
use anabranch::Monitor;

/// Long enough for any test here on a machine that is busy with something else.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Runs `body` on a thread of its own and gives what it gives, panics included; or says after [`LIMIT`] that
/// it hangs.
pub fn within<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    finishes_within(LIMIT, body).unwrap_or_else(|| panic!("hangs: not finished after {LIMIT:?}"))
}

/// As [`within`], with a limit, and `None` for a hang. A body that hangs is left to its fate.
pub fn finishes_within<R: Send + 'static>(
    limit: Duration,
    body: impl FnOnce() -> R + Send + 'static,
) -> Option<R> {
    let (done, finished) = channel();
    let body = move || {
        // The receiver may be gone already: then nobody waits for the answer.
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

/// The payload of the panic of `body`, which must panic.
pub fn panic_of<R>(body: impl FnOnce() -> R) -> Box<dyn Any + Send> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(_) => panic!("no panic came"),
        Err(payload) => payload,
    }
}

/// The message of a panic that has one.
pub fn message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap_or_else(|| "not a text".into())
}

/// How the text of a panic begins that a test plants.
pub const PLANTED: &str = "planted: ";

/// Keeps panics that tests plant from being printed, [`Planted`] values and texts that begin with [`PLANTED`]; all
/// others are printed. The hook stays for the life of the process, which all tests share.
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

/// Something that happens once, and can be waited for.
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

    /// Waits until the gate is open. Says whether it was in time.
    pub fn opens_within(&self, limit: Duration) -> bool {
        let open = self.0.0.lock().unwrap();
        let (open, _) = self.0.1.wait_timeout_while(open, limit, |open| !*open).unwrap();
        *open
    }

    /// Waits until the gate is open.
    ///
    /// # Panics
    /// If it takes so long that it is a hang.
    pub fn pass(&self) {
        assert!(self.opens_within(LIMIT / 2), "a gate stayed shut");
    }
}

/// Called by a worker of a watched run: waits until every other worker has nothing to do. What they did until then, such as
/// a failure that they noted, is known to the run.
pub fn others_rest(monitor: &Monitor) {
    let rest = || monitor.snapshots().iter().all(|run| run.waiting + 1 >= run.workers);
    assert!(comes_true(LIMIT / 2, rest), "{}", monitor.snapshots()[0]);
}

/// Whether `condition` goes on holding for a moment. What breaks it needs time to show; what keeps it passes however slow
/// the machine is.
pub fn stays_true(mut condition: impl FnMut() -> bool) -> bool {
    !comes_true(Duration::from_millis(20), || !condition())
}

/// Waits until `condition` holds; says whether it did in time.
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
