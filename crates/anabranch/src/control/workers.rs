//! The number of workers, changed while a run goes on.

use std::sync::{Arc as StdArc, Mutex};

use anabranch_record::fork;
use anabranch_record::sync::Arc;

use crate::engine::Run;

/// The number of workers of running streams. It can be changed at any time and from any thread.
///
/// ```
/// use anabranch::{Stream, Workers};
///
/// let workers = Workers::new(1);
/// let total: u64 = Stream::from_iter(0..10_000u64)
///     .workers(&workers)
///     .inspect(|&n| if n == 100 { workers.set(3) }) // two more workers from here on
///     .fold(0, |sum, n| sum + n);
/// assert_eq!(total, 49_995_000);
/// ```
#[derive(Debug, Clone)]
pub struct Workers {
    shared: StdArc<Mutex<Target>>,
}

/// How many threads work in a stream: a number, or a [`Workers`] handle that says it. [`Stream::workers`](crate::Stream::workers)
/// takes it.
#[derive(Debug, Clone)]
pub struct WorkerCount(pub(crate) Count);

#[derive(Debug, Clone)]
pub(crate) enum Count {
    Number(usize),
    Handle(Workers),
}

impl From<usize> for WorkerCount {
    fn from(number: usize) -> Self {
        Self(Count::Number(number))
    }
}

impl From<&Workers> for WorkerCount {
    fn from(handle: &Workers) -> Self {
        Self(Count::Handle(handle.clone()))
    }
}

#[derive(Debug)]
struct Target {
    target: usize,
    runs: Vec<Arc<Run>>,
}

impl Workers {
    /// Creates a handle for `workers` workers, the calling thread of a run included.
    ///
    /// # Panics
    /// If `workers` is 0.
    #[track_caller]
    pub fn new(workers: usize) -> Self {
        assert!(workers > 0, "`Workers::new(0)`: a stream has 1 worker or more");
        Self { shared: StdArc::new(Mutex::new(Target { target: workers, runs: Vec::new() })) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Target> {
        fork::lock(&self.shared)
    }

    /// The number of workers that was set last.
    pub fn get(&self) -> usize {
        self.lock().target
    }

    /// Changes the number of workers of every run that has this handle.
    ///
    /// If there are too many workers, some leave when they have finished their current work; the calling
    /// thread stays. A run on a [`Pool`](crate::Pool) does not change: the threads of a pool come and go as
    /// the runs need them.
    ///
    /// # Panics
    /// If `workers` is 0.
    #[track_caller]
    pub fn set(&self, workers: usize) {
        assert!(workers > 0, "`Workers::set(0)`: a stream has 1 worker or more");
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
