//! Processes: their identity, how the thread of a process sleeps and is woken, and which ends of other
//! processes it has noticed.

use std::collections::BTreeSet;

use crate::plan::Node;
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, AtomicUsize, Mutex, Ordering, lock};

use super::{
    awake::Awake,
    records::{Closing, RecordInfo, Side, Wait},
};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const WAKES_ONLY_WHO_SLEEPS: Mutant = Mutant("wakes_nobody_who_is_about_to_sleep");
const COUNTS_AFTER_WAKING: Mutant = Mutant("counts_after_waking");

/// A process or a firing rule.
#[derive(Debug)]
pub struct Process {
    /// The number of the process in its network, in the order of creation.
    pub(super) index: usize,
    pub(super) name: String,
    /// A number that no other process of this program has. At least 1.
    pub(super) id: u64,
    /// The node of the process in the network's plan, without its id and its unit.
    pub(super) node: Node,
    actor: Arc<Actor>,
    /// The indices of the views that the process owns.
    pub(super) views: Mutex<Vec<usize>>,
    saw: Mutex<Saw>,
    /// Whether the process has noticed that the network ends. From then on it reads and writes nothing.
    is_over: AtomicBool,
}

/// The reasons for closed views that a process has noticed.
#[derive(Debug, Default, Clone)]
pub(super) struct Saw {
    /// The indices of the processes that have closed views.
    pub(super) processes: BTreeSet<usize>,
    /// Whether a view was closed because the network ends.
    pub(super) ending: bool,
    /// Whether a view was closed as forgotten.
    pub(super) forgotten: bool,
}

impl Process {
    pub(super) fn new(index: usize, node: Node) -> Arc<Self> {
        // Not an atomic of `sync`: this static outlives a single run of a model checker.
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        Arc::new(Self {
            index,
            name: node.name.to_string(),
            id: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            node,
            actor: Arc::new(Actor::new()),
            views: Mutex::default(),
            saw: Mutex::default(),
            is_over: AtomicBool::new(false),
        })
    }

    pub(super) fn wake(&self, awake: &Awake) {
        self.actor.wake(awake);
    }

    pub(super) fn actor(&self) -> &Arc<Actor> {
        &self.actor
    }

    /// Notes that the process has found the `other` side of `record` closed, and why it was closed.
    pub(super) fn notice(&self, awake: &Awake, record: &RecordInfo, other: Side) {
        if awake.is_ending() {
            self.notice_ending();
        }
        let mut saw = lock(&self.saw);
        for view in lock(record.views(other)).iter() {
            match view.closing() {
                Some(Closing::Process(index)) if index != self.index => _ = saw.processes.insert(index),
                Some(Closing::Forgotten) => saw.forgotten = true,
                _ => {}
            }
        }
    }

    /// Notes that the process has found a view of its own closed, and why.
    pub(super) fn notice_own(&self, closing: Closing) {
        match closing {
            Closing::Ending => self.notice_ending(),
            Closing::Forgotten => lock(&self.saw).forgotten = true,
            Closing::Process(_) | Closing::Outside => {}
        }
    }

    /// Notes that the process has found out that the network ends.
    ///
    /// Afterwards the process does not do what its program would do if the network went on: it takes an end of the
    /// network for the end of a stream. So all of its views are closed to it from now on, and nobody reads what it would
    /// write.
    pub(super) fn notice_ending(&self) {
        lock(&self.saw).ending = true;
        self.is_over.store(true, Ordering::Release);
    }

    /// Whether the process has found out that the network ends.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// The reason to note for the views that close because the process ends.
    pub(super) fn closing(&self) -> Closing {
        if self.is_over() { Closing::Ending } else { Closing::Process(self.index) }
    }

    pub(super) fn saw(&self) -> Saw {
        lock(&self.saw).clone()
    }
}

/// The thread is awake, and not about to sleep.
const AWAKE: usize = 0;
/// The thread is about to sleep. It is counted as awake.
const ARMED: usize = 1;
/// The thread sleeps. It is not counted as awake.
const ASLEEP: usize = 2;
/// The thread was woken after it became `ARMED`. It is counted as awake.
const WOKEN: usize = 3;

/// The thread of a process, in the form that other threads use to wake it.
#[derive(Debug)]
pub struct Actor {
    /// `AWAKE`, `ARMED`, `ASLEEP` or `WOKEN`.
    word: AtomicUsize,
    parker: Parker,
    /// The items or the room that the process waits for, while it sleeps.
    wait: Mutex<Option<Wait>>,
}

impl Actor {
    fn new() -> Self {
        Self { word: AtomicUsize::new(AWAKE), parker: Parker::default(), wait: Mutex::new(None) }
    }

    /// Wakes the thread if it sleeps, and counts it as awake. If the thread is about to sleep, it will not
    /// sleep.
    pub(super) fn wake(&self, awake: &Awake) {
        // The thread is counted as awake before it can run, because it may sleep again, and be subtracted,
        // before this function goes on.
        if !COUNTS_AFTER_WAKING.is_on() {
            awake.rouse();
        }
        let before = if WAKES_ONLY_WHO_SLEEPS.is_on() {
            let woken = self.word.compare_exchange(ASLEEP, WOKEN, Ordering::AcqRel, Ordering::Acquire);
            woken.unwrap_or_else(|before| before)
        } else {
            self.word.swap(WOKEN, Ordering::AcqRel)
        };
        if before == ASLEEP {
            if COUNTS_AFTER_WAKING.is_on() {
                awake.rouse();
            }
            awake.count_rousing();
            self.parker.wake();
        } else {
            if !COUNTS_AFTER_WAKING.is_on() {
                awake.rouse_nobody();
            }
        }
    }

    /// Prepares for sleeps of the calling thread.
    pub(super) fn prepare_to_park(&self) {
        self.parker.make();
    }

    /// Notes that the calling thread is about to sleep.
    pub(super) fn arm(&self) {
        self.word.store(ARMED, Ordering::Relaxed);
    }

    /// Notes that the calling thread does not sleep.
    pub(super) fn disarm(&self) {
        self.word.store(AWAKE, Ordering::Relaxed);
    }

    /// Sleeps until another thread wakes this one, unless one has done so since it was [armed](Self::arm).
    pub(super) fn sleep(&self, awake: &Awake, wait: &Wait) {
        *lock(&self.wait) = Some(wait.clone());
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        if self.word.compare_exchange(ARMED, ASLEEP, success, failure).is_ok() {
            awake.end_if_forked();
            awake.rest();
            self.parker.park_while(|| self.word.load(Ordering::Acquire) == ASLEEP);
        }
        *lock(&self.wait) = None;
        self.disarm();
    }

    pub(super) fn wait(&self) -> Option<Wait> {
        lock(&self.wait).clone()
    }

    /// Sets the items that the process waits for, although its thread does not sleep here.
    pub(super) fn set_wait(&self, wait: Option<Wait>) {
        *lock(&self.wait) = wait;
    }
}

/// The place where a thread sleeps. It sleeps by parking.
#[cfg(not(shuttle))]
#[derive(Debug, Default)]
struct Parker(Mutex<Option<anabranch_record::sync::thread::Thread>>);

#[cfg(not(shuttle))]
impl Parker {
    /// Prepares for sleeps of the calling thread.
    fn make(&self) {
        *lock(&self.0) = Some(anabranch_record::sync::thread::current());
    }

    fn park_while(&self, is_asleep: impl Fn() -> bool) {
        while is_asleep() {
            anabranch_record::sync::thread::park();
        }
    }

    /// Ends the sleep. To be called after the condition of the sleep has become false.
    fn wake(&self) {
        if let Some(thread) = lock(&self.0).as_ref() {
            thread.unpark();
        }
    }
}

/// In the model, a parked thread may wake without a reason any number of times, so a run might not end. Under
/// a model checker a thread therefore waits on a condition variable.
#[cfg(shuttle)]
#[derive(Debug, Default)]
struct Parker(Mutex<()>, anabranch_record::sync::Condvar);

#[cfg(shuttle)]
impl Parker {
    fn make(&self) {}

    fn park_while(&self, is_asleep: impl Fn() -> bool) {
        let mut guard = lock(&self.0);
        while is_asleep() {
            guard = self.1.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn wake(&self) {
        drop(lock(&self.0));
        self.1.notify_all();
    }
}
