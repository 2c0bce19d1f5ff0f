//! Threads that run streams next to a loop that sends their items. They are kept for the next stream, so a
//! loop that is entered many times does not start threads each time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread::Builder;

use anabranch::posts::fork::{self, Birth};
use anabranch::posts::{Channel, channel};
use anabranch::{Pool, Sender};

/// The largest number of idle runners that are kept.
const KEPT: usize = 8;

/// The work of a runner: it runs a stream with the help of its pool.
type Job = Box<dyn FnOnce(&Pool) + Send>;

/// A thread that waits for a job, with a pool of its own.
struct Runner {
    /// The process in which the thread is.
    birth: Birth,
    workers: usize,
    jobs: Sender<Job>,
}

static IDLE: Mutex<Vec<Runner>> = Mutex::new(Vec::new());

/// A stream that runs on a runner.
#[derive(Debug)]
pub(crate) struct Running<T: Send>(Birth, Channel<std::thread::Result<T>>);

impl<T: Send + 'static> Running<T> {
    /// Starts `run` on a runner of `workers` threads.
    pub(crate) fn start(
        workers: usize,
        run: impl FnOnce(&Pool) -> T + Send + 'static,
    ) -> std::io::Result<Self> {
        let runner = match take(workers) {
            Some(runner) => runner,
            None => start(workers)?,
        };
        let jobs = runner.jobs.clone();
        let (sender, result) = channel(1);
        let job = move |pool: &Pool| {
            let ended = catch_unwind(AssertUnwindSafe(|| run(pool)));
            keep(runner);
            // It is dropped if nobody waits for it.
            let _ = sender.send(ended);
        };
        let is_given = jobs.send(Box::new(job)).is_ok();
        assert!(is_given, "a runner takes jobs until its last `Sender` is dropped");
        Ok(Self(Birth::here(), result))
    }

    /// Waits for the end of the stream, and returns its result.
    pub(crate) fn join(mut self) -> std::thread::Result<T> {
        if self.0.is_forked() {
            return Err(Box::new(
                "this process was forked after the stream was started, and has none of its threads: start another stream in this process",
            ));
        }
        self.1.next().unwrap_or_else(|| Err(Box::new("the thread of the stream has ended")))
    }
}

/// Takes an idle runner of the same size, if there is one.
fn take(workers: usize) -> Option<Runner> {
    let mut idle = fork::lock(&IDLE);
    // The threads of a forked process are in its parent only.
    idle.retain(|runner| !runner.birth.is_forked());
    let at = idle.iter().rposition(|runner| runner.workers == workers)?;
    Some(idle.remove(at))
}

/// Keeps a runner for the next stream. If there are too many, the runner that has been idle for the longest time
/// is dropped.
fn keep(runner: Runner) {
    let mut idle = fork::lock(&IDLE);
    idle.push(runner);
    let too_many = (idle.len() > KEPT).then(|| idle.remove(0));
    drop(idle);
    drop(too_many);
}

fn start(workers: usize) -> std::io::Result<Runner> {
    let (jobs, waiting) = channel::<Job>(1);
    Builder::new().name("anabranch".to_owned()).spawn(move || {
        let pool = Pool::new(workers);
        waiting.for_each(|job| job(&pool));
    })?;
    Ok(Runner { birth: Birth::here(), workers, jobs })
}
