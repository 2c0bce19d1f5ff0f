//! Processes: their identity, how the thread of a process sleeps and is woken, and which ends of other
//! processes it has noticed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use anabranch_record::Sleep;
use anabranch_record::sync::{Arc, AtomicUsize, Mutex, Ordering, lock};

use super::{
    hub::Hub,
    records::{Closing, RecordInfo, Side},
};

/// A process or a firing rule.
#[derive(Debug)]
pub struct Process {
    /// The number of the process in its network, in the order of creation.
    pub(super) index: usize,
    pub(super) name: String,
    /// A number that no other process of this program has. At least 1.
    pub(super) id: u64,
    pub(super) is_rule: bool,
    actor: Arc<Actor>,
    /// The indices of the views that the process owns.
    pub(super) views: Mutex<Vec<usize>>,
    saw: Mutex<Saw>,
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
    pub(super) fn new(index: usize, name: &str, is_rule: bool) -> Arc<Self> {
        // Not an atomic of `sync`: this static outlives a single run of a model checker.
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        Arc::new(Self {
            index,
            name: name.into(),
            id: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            is_rule,
            actor: Arc::new(Actor::new()),
            views: Mutex::default(),
            saw: Mutex::default(),
        })
    }

    pub(super) fn wake(&self, hub: &Hub) {
        self.actor.wake(hub);
    }

    pub(super) fn actor(&self) -> &Arc<Actor> {
        &self.actor
    }

    /// Notes that the process has found the `other` side of `record` closed, and why it was closed.
    pub(super) fn notice(&self, hub: &Hub, record: &RecordInfo, other: Side) {
        let mut saw = lock(&self.saw);
        saw.ending |= hub.is_ending();
        for view in lock(record.views(other)).iter() {
            match view.closing() {
                Some(Closing::Process(index)) if index != self.index => _ = saw.processes.insert(index),
                Some(Closing::Ending) => saw.ending = true,
                Some(Closing::Forgotten) => saw.forgotten = true,
                _ => {}
            }
        }
    }

    /// Notes that the process has found a view of its own closed, and why.
    pub(super) fn notice_own(&self, closing: Closing) {
        let mut saw = lock(&self.saw);
        match closing {
            Closing::Ending => saw.ending = true,
            Closing::Forgotten => saw.forgotten = true,
            Closing::Process(_) | Closing::Outside => {}
        }
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
    bed: Bed,
    /// The items or the room that the process waits for, while it sleeps.
    wait: Mutex<Option<Wait>>,
}

/// The items or the room that a process waits for.
#[derive(Debug, Clone)]
pub struct Wait {
    pub(super) record: Arc<RecordInfo>,
    /// The index of the view that waits.
    pub(super) view: usize,
    pub(super) side: Side,
    /// How many items or slots.
    pub(super) count: usize,
}

impl Actor {
    fn new() -> Self {
        Self { word: AtomicUsize::new(AWAKE), bed: Bed::default(), wait: Mutex::new(None) }
    }

    /// Wakes the thread if it sleeps, and counts it as awake. If the thread is about to sleep, it will not
    /// sleep.
    pub(super) fn wake(&self, hub: &Hub) {
        // The thread is counted as awake before it can run, because it may sleep again, and be subtracted,
        // before this function goes on.
        #[cfg(not(mutant = "counts_after_waking"))]
        hub.rouse();
        #[cfg(not(mutant = "wakes_nobody_who_is_about_to_sleep"))]
        let before = self.word.swap(WOKEN, Ordering::AcqRel);
        #[cfg(mutant = "wakes_nobody_who_is_about_to_sleep")]
        let before = self
            .word
            .compare_exchange(ASLEEP, WOKEN, Ordering::AcqRel, Ordering::Acquire)
            .unwrap_or_else(|before| before);
        if before == ASLEEP {
            #[cfg(mutant = "counts_after_waking")]
            hub.rouse();
            hub.count_rousing();
            self.bed.wake();
        } else {
            #[cfg(not(mutant = "counts_after_waking"))]
            hub.rouse_nobody();
        }
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
struct Bed(Mutex<Option<anabranch_record::sync::thread::Thread>>);

#[cfg(not(shuttle))]
impl Bed {
    /// Prepares for sleeps of the calling thread.
    fn make(&self) {
        *lock(&self.0) = Some(anabranch_record::sync::thread::current());
    }

    fn sleep_while(&self, is_asleep: impl Fn() -> bool) {
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
struct Bed(Mutex<()>, anabranch_record::sync::Condvar);

#[cfg(shuttle)]
impl Bed {
    fn make(&self) {}

    fn sleep_while(&self, is_asleep: impl Fn() -> bool) {
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

/// Lets a process sleep in a view.
pub(super) struct Sleeper {
    pub(super) process: Arc<Process>,
    pub(super) hub: Arc<Hub>,
    pub(super) wait: Wait,
}

impl Sleep for Sleeper {
    fn prepare(&self) {
        self.process.actor.word.store(ARMED, Ordering::Relaxed);
    }

    fn cancel(&self) {
        self.process.actor.word.store(AWAKE, Ordering::Relaxed);
    }

    fn sleep(&self) -> bool {
        let actor = &*self.process.actor;
        *lock(&actor.wait) = Some(self.wait.clone());
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        if actor.word.compare_exchange(ARMED, ASLEEP, success, failure).is_ok() {
            self.hub.rest();
            actor.bed.sleep_while(|| actor.word.load(Ordering::Acquire) == ASLEEP);
        }
        *lock(&actor.wait) = None;
        self.cancel();
        !self.hub.is_ending()
    }
}

/// The process that runs on a thread, and its network.
#[derive(Clone)]
struct Handle {
    process: Arc<Process>,
    hub: Arc<Hub>,
}

#[cfg(not(shuttle))]
std::thread_local! {
    /// The id of the process whose thread this is. 0 if it is not the thread of a process.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    static HANDLE: RefCell<Option<Handle>> = const { RefCell::new(None) };
    /// The process or rule that counts as the one that drops views on this thread: the address of its hub,
    /// and its index.
    static ACTING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

#[cfg(shuttle)]
anabranch_record::sync::thread_local! {
    static CURRENT: Cell<u64> = Cell::new(0);
    static HANDLE: RefCell<Option<Handle>> = RefCell::new(None);
    static ACTING: Cell<(usize, usize)> = Cell::new((0, 0));
}

/// The id of the process whose thread this is. 0 if it is not the thread of a process.
#[inline]
pub(super) fn current() -> u64 {
    CURRENT.with(Cell::get)
}

/// The process whose thread this is, and the hub of its network.
pub(super) fn current_process() -> Option<(Arc<Process>, Arc<Hub>)> {
    HANDLE.with(|handle| handle.borrow().clone()).map(|handle| (handle.process, handle.hub))
}

/// The reason to note for a view of the network of `hub` that is dropped on this thread.
pub(super) fn closing_by(hub: &Hub) -> Closing {
    // A view may be dropped with the thread-local variables of a thread, when `ACTING` is gone already.
    let acting = ACTING.try_with(Cell::get).unwrap_or((0, 0));
    if acting.0 == std::ptr::from_ref(hub).addr() { Closing::Process(acting.1) } else { Closing::Outside }
}

/// A guard that restores the thread-local variables as they were before [`Role::play`] or [`Role::none`].
pub(super) struct Role {
    current: u64,
    handle: Option<Handle>,
    acting: (usize, usize),
}

impl Role {
    /// Makes the calling thread the thread of the process, until the role is dropped.
    pub(super) fn play(process: &Arc<Process>, hub: &Arc<Hub>) -> Self {
        process.actor.bed.make();
        let handle = Handle { process: Arc::clone(process), hub: Arc::clone(hub) };
        Self::set(process.id, Some(handle), (Arc::as_ptr(hub).addr(), process.index))
    }

    /// Makes the calling thread the thread of no process, until the role is dropped.
    pub(super) fn none() -> Self {
        Self::set(0, None, (0, 0))
    }

    /// Notes that the calling thread fires the rule with this index: views that it drops count as dropped by the rule.
    pub(super) fn act(index: usize, hub: &Hub) {
        ACTING.with(|acting| acting.set((std::ptr::from_ref(hub).addr(), index)));
    }

    fn set(current: u64, handle: Option<Handle>, acting: (usize, usize)) -> Self {
        Self {
            current: CURRENT.with(|cell| cell.replace(current)),
            handle: HANDLE.with(|cell| cell.replace(handle)),
            acting: ACTING.with(|cell| cell.replace(acting)),
        }
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        CURRENT.with(|cell| cell.set(self.current));
        HANDLE.with(|cell| *cell.borrow_mut() = self.handle.take());
        ACTING.with(|cell| cell.set(self.acting));
    }
}
