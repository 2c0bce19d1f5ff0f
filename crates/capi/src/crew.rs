//! Threads that run streams beside a loop that sends their items, kept for the next one: a loop that is entered again and
//! again does not start threads each time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use anabranch::Pool;

/// At most so many crews are kept.
const KEPT: usize = 8;

/// What a crew does: run a stream with the help of its pool.
type Job = Box<dyn FnOnce(&Pool) + Send>;

/// A thread that waits for a job, with a pool of its own.
struct Crew {
    workers: usize,
    jobs: Sender<Job>,
}

static IDLE: Mutex<Vec<Crew>> = Mutex::new(Vec::new());

/// A stream that runs on a crew.
#[derive(Debug)]
pub(crate) struct Running<T>(Receiver<std::thread::Result<T>>);

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
        let (sender, result) = channel();
        let job = move |pool: &Pool| {
            let ended = catch_unwind(AssertUnwindSafe(|| run(pool)));
            keep(crew);
            // Nobody waits for the end of a stream that was freed.
            let _ = sender.send(ended);
        };
        jobs.send(Box::new(job)).map_err(|_| std::io::Error::other("a thread of the library has ended"))?;
        Ok(Self(result))
    }

    /// Waits for the end.
    pub(crate) fn join(self) -> std::thread::Result<T> {
        self.0.recv().unwrap_or_else(|gone| Err(Box::new(gone)))
    }
}

/// An idle crew of the same size.
fn take(workers: usize) -> Option<Crew> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let at = idle.iter().rposition(|crew| crew.workers == workers)?;
    Some(idle.remove(at))
}

/// Keeps a crew for the next stream. The one that has been idle for longest goes, if there are too many.
fn keep(crew: Crew) {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push(crew);
    let too_many = (idle.len() > KEPT).then(|| idle.remove(0));
    drop(idle);
    drop(too_many);
}

fn hire(workers: usize) -> std::io::Result<Crew> {
    let (jobs, waiting) = channel::<Job>();
    Builder::new().name("anabranch".to_owned()).spawn(move || {
        let pool = Pool::new(workers);
        while let Ok(job) = waiting.recv() {
            job(&pool);
        }
    })?;
    Ok(Crew { workers, jobs })
}
