//! Adding and taking away workers while a run goes on.

use std::sync::{Arc as StdArc, Mutex, PoisonError};

use anabranch_record::sync::Arc;

use crate::engine::Run;

/// The number of workers of running streams, which may be changed at any time, from any thread.
///
/// ```
/// use anabranch::{Stream, Workers};
///
/// let workers = Workers::new(1);
/// let total: u64 = Stream::from_iter(0..10_000u64)
///     .workers_from(&workers)
///     .inspect(|&n| if n == 100 { workers.set(3) }) // two more from here on
///     .fold(0, |sum, n| sum + n);
/// assert_eq!(total, 49_995_000);
/// ```
#[derive(Debug, Clone)]
pub struct Workers {
    shared: StdArc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    target: usize,
    runs: Vec<Arc<Run>>,
}

impl Workers {
    /// A handle that says `workers`, the calling thread among them.
    ///
    /// # Panics
    /// If `workers` is 0.
    #[track_caller]
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "a stream needs 1 worker or more, not 0");
        Self { shared: StdArc::new(Mutex::new(Shared { target: workers, runs: Vec::new() })) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many workers the handle says.
    pub fn get(&self) -> usize {
        self.lock().target
    }

    /// Changes the number of workers of every run that has this handle. Those that are too many leave when
    /// they have finished what they are at; the calling thread stays. A run of a [`Pool`](crate::Pool) is left as it is: the
    /// pool's threads come to it and go as other runs want them.
    ///
    /// # Panics
    /// If `workers` is 0.
    #[track_caller]
    pub fn set(&self, workers: usize) {
        assert!(workers > 0, "a stream needs 1 worker or more, not 0");
        let mut shared = self.lock();
        shared.target = workers;
        for run in &shared.runs {
            run.set_target(workers);
        }
    }

    pub(crate) fn attach(&self, run: &Arc<Run>) {
        let mut shared = self.lock();
        run.set_target(shared.target);
        shared.runs.push(Arc::clone(run));
    }

    pub(crate) fn detach(&self, run: &Arc<Run>) {
        self.lock().runs.retain(|other| !Arc::ptr_eq(other, run));
    }
}
