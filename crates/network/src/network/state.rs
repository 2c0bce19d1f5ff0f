//! The state that the views, processes and workers of one network share, whatever their types.

use std::ops::Deref;

use anabranch_record::sync::{Arc, AtomicUsize, Mutex, Ordering, lock};

use super::{
    awake::Awake,
    deadlock::Deadlock,
    process::Process,
    records::{RecordInfo, Side},
};

/// The network was not run yet.
const NEW: usize = 0;
/// The network runs.
const RUNNING: usize = 1;
/// The network was run, or was dropped without a run.
const OVER: usize = 2;

/// The state that the views, processes and workers of one network share.
pub(super) struct NetworkState {
    awake: Awake,
    /// How many processes and rules have not ended.
    live: AtomicUsize,
    /// `NEW`, `RUNNING` or `OVER`.
    phase: AtomicUsize,
    pub(super) records: Mutex<Vec<Arc<RecordInfo>>>,
    pub(super) processes: Mutex<Vec<Arc<Process>>>,
    /// The reasons other than failures of processes that end the network.
    pub(super) wrong: Mutex<Wrong>,
}

/// The reasons other than failures of processes that end a network.
#[derive(Default)]
pub(super) struct Wrong {
    /// The first message that says that the network was built or used wrongly.
    pub(super) misuse: Option<String>,
    /// A deadlock that is certain.
    pub(super) deadlock: Option<Found>,
    /// A deadlock that ended when views that no process had used were closed as forgotten. It becomes certain
    /// if one of these views was not forgotten.
    pub(super) suspect: Option<Found>,
}

/// A deadlock, and for each of its waits the record and the side on which the process waits.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) deadlock: Deadlock,
    pub(super) sides: Vec<(Arc<RecordInfo>, Side)>,
}

impl Deref for NetworkState {
    type Target = Awake;

    #[inline]
    fn deref(&self) -> &Awake {
        &self.awake
    }
}

impl NetworkState {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            awake: Awake::new(),
            live: AtomicUsize::new(0),
            phase: AtomicUsize::new(NEW),
            records: Mutex::new(Vec::new()),
            processes: Mutex::new(Vec::new()),
            wrong: Mutex::default(),
        })
    }

    pub(super) fn start(&self) {
        self.phase.store(RUNNING, Ordering::Release);
    }

    /// Ends the network. From now on all of its views are closed.
    pub(super) fn finish(&self) {
        self.phase.store(OVER, Ordering::Release);
    }

    pub(super) fn is_over(&self) -> bool {
        self.phase.load(Ordering::Acquire) == OVER
    }

    pub(super) fn is_new(&self) -> bool {
        self.phase.load(Ordering::Acquire) == NEW
    }

    /// Counts a new process or rule as live.
    pub(super) fn add_live(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a process or rule as ended. To be called after every thread that its end wakes was counted as
    /// awake.
    pub(super) fn remove_live(&self) {
        self.live.fetch_sub(1, Ordering::AcqRel);
    }

    pub(super) fn live(&self) -> usize {
        self.live.load(Ordering::Acquire)
    }

    /// Ends every process and rule. Sleeping processes are woken, waiting calls return, and the thread that
    /// called `run` closes every view.
    pub(super) fn end(&self) {
        self.set_ending();
        for process in lock(&self.processes).iter() {
            process.wake(self);
        }
        self.call_for_sweep();
    }

    /// Ends the network with an error, because it was built or used wrongly.
    pub(super) fn misuse(&self, message: String) {
        lock(&self.wrong).misuse.get_or_insert(message);
        self.end();
    }

    /// Ends the network with the suspected deadlock. To be called when a process turns out to hold a view
    /// that was closed as forgotten.
    pub(super) fn is_deadlock_after_all(&self) {
        let mut wrong = lock(&self.wrong);
        if let Some(deadlock) = wrong.suspect.take() {
            wrong.deadlock.get_or_insert(deadlock);
            drop(wrong);
            self.end();
        }
    }
}

/// Closes the views of a network that is dropped without having been run.
pub(super) struct Unrun(pub(super) Arc<NetworkState>);

impl Drop for Unrun {
    fn drop(&mut self) {
        if self.0.is_new() {
            self.0.finish();
        }
    }
}
