//! The threads of readers and writers.

use std::sync::{Arc, OnceLock};

use anabranch::Pool;

use crate::run_options::{at_work, cores};

/// The threads that a reader or a writer uses beside its caller's.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    pub(crate) pool: Arc<Pool>,
    /// The number of threads that work for it at a time.
    pub(crate) workers: usize,
}

impl Threads {
    /// The threads for `workers` workers; `None` if there is one, which is the caller. Without a pool of the caller, they
    /// are those of the pool that the process has for all readers and writers.
    pub(crate) fn new(workers: usize, pool: Option<Arc<Pool>>) -> Option<Threads> {
        (at_work(workers) > 1).then(|| Threads::beside(workers, pool))
    }

    /// The threads for `workers` workers, none of which is the caller.
    pub(crate) fn beside(workers: usize, pool: Option<Arc<Pool>>) -> Threads {
        static POOL: OnceLock<Arc<Pool>> = OnceLock::new();
        let make = || Arc::new(Pool::with_name(cores(), "abz-pool"));
        let pool = pool.unwrap_or_else(|| Arc::clone(POOL.get_or_init(make)));
        Threads { pool, workers: at_work(workers) }
    }

    /// Starts the threads, and returns them; `None` if the system has no thread.
    pub(crate) fn start(threads: &mut Option<Threads>) -> Option<&Threads> {
        if threads.as_ref().is_some_and(|threads| !threads.pool.start()) {
            *threads = None;
        }
        threads.as_ref()
    }
}
