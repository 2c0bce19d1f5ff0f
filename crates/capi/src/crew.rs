//! Threads that run streams next to a loop that sends their items. They are kept for the next stream, so a
//! loop that is entered many times does not start threads each time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use anabranch::Pool;

use crate::handoff::{Giver, Taker, handoff};

/// The largest number of idle crews that are kept.
const KEPT: usize = 8;

/// The work of a crew: it runs a stream with the help of its pool.
type Job = Box<dyn FnOnce(&Pool) + Send>;

/// A thread that waits for a job, with a pool of its own.
struct Crew {
    workers: usize,
    jobs: Giver<Job>,
}

static IDLE: Mutex<Vec<Crew>> = Mutex::new(Vec::new());

/// A stream that runs on a crew.
#[derive(Debug)]
pub(crate) struct Running<T>(Taker<std::thread::Result<T>>);

impl<T: Send + 'static> Running<T> {
    /// Starts `run` on a crew of `workers` threads.
    pub(crate) fn start(
        workers: usize,
        run: impl FnOnce(&Pool) -> T + Send + 'static,
    ) -> std::io::Result<Self> {
        let crew = match take(workers) {
            Some(crew) => crew,
            None => hire(workers)?,
        };
        let jobs = crew.jobs.clone();
        let (giver, result) = handoff();
        let job = move |pool: &Pool| {
            let ended = catch_unwind(AssertUnwindSafe(|| run(pool)));
            keep(crew);
            giver.give(ended);
        };
        jobs.give(Box::new(job));
        Ok(Self(result))
    }

    /// Waits for the end of the stream, and returns its result.
    pub(crate) fn join(self) -> std::thread::Result<T> {
        self.0.take().unwrap_or_else(|| Err(Box::new("the thread of the stream has ended")))
    }
}

/// Takes an idle crew of the same size, if there is one.
fn take(workers: usize) -> Option<Crew> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let at = idle.iter().rposition(|crew| crew.workers == workers)?;
    Some(idle.remove(at))
}

/// Keeps a crew for the next stream. If there are too many, the crew that has been idle for the longest time
/// is dropped.
fn keep(crew: Crew) {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push(crew);
    let too_many = (idle.len() > KEPT).then(|| idle.remove(0));
    drop(idle);
    drop(too_many);
}

fn hire(workers: usize) -> std::io::Result<Crew> {
    let (jobs, waiting) = handoff::<Job>();
    Builder::new().name("anabranch".to_owned()).spawn(move || {
        let pool = Pool::new(workers);
        while let Some(job) = waiting.take() {
            job(&pool);
        }
    })?;
    Ok(Crew { workers, jobs })
}
