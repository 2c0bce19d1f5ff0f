//! The threads of readers and writers.

use std::sync::{Arc, Mutex};

use anabranch::Pool;
use anabranch::posts::fork;

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
        Threads { pool: pool.unwrap_or_else(Self::shared), workers: at_work(workers) }
    }

    /// The pool that the process has for all readers and writers. A process that was forked makes another one.
    fn shared() -> Arc<Pool> {
        // Locked for moments only: a process that was forked meanwhile could not lock it.
        static POOL: Mutex<Option<Arc<Pool>>> = Mutex::new(None);
        let usable = |pool: &Option<Arc<Pool>>| pool.clone().filter(|pool| !pool.is_forked());
        if let Some(pool) = usable(&fork::lock(&POOL)) {
            return pool;
        }
        let made = Arc::new(Pool::with_name(cores(), "abz-pool"));
        let mut kept = fork::lock(&POOL);
        // Another thread may have made one meanwhile.
        usable(&kept).unwrap_or_else(|| {
            *kept = Some(Arc::clone(&made));
            made
        })
    }

    /// Starts the threads, and returns them; `None` if the system has no thread.
    pub(crate) fn start(threads: &mut Option<Threads>) -> Option<&Threads> {
        if threads.as_ref().is_some_and(|threads| !threads.pool.start()) {
            *threads = None;
        }
        threads.as_ref()
    }
}
