//! Processes: their identity, how one with a thread sleeps and is woken, and what it has seen of others' ends.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use anabranch_record::Sleep;
use anabranch_record::sync::{Arc, AtomicUsize, Mutex, Ordering, fence, lock};

use super::{
    hub::Hub,
    records::{Closing, RecordInfo, Side},
};

/// A process or a firing rule.
#[derive(Debug)]
pub struct Process {
    /// In the order of creation.
    pub(super) index: usize,
    pub(super) name: String,
    /// Unlike that of any other process of this program.
    pub(super) id: u64,
    pub(super) is_rule: bool,
    actor: Arc<Actor>,
    /// The views that it owns: their indices.
    pub(super) views: Mutex<Vec<usize>>,
    saw: Mutex<Saw>,
}

/// Whose closing of a view a process has noticed.
#[derive(Debug, Default, Clone)]
pub(super) struct Saw {
    pub(super) processes: BTreeSet<usize>,
    /// That the network ends.
    pub(super) ending: bool,
    /// That a view was closed as forgotten.
    pub(super) forgotten: bool,
}

impl Process {
    pub(super) fn new(index: usize, name: &str, is_rule: bool) -> Arc<Self> {
        // Not one of `sync`'s: a static lives longer than a model's run.
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

    /// Notes that it has found the other side of `record` closed.
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

    /// Notes that it has found a view of its own closed.
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

/// Awake, and not about to sleep.
const AWAKE: usize = 0;
/// About to sleep; counted as awake.
const ARMED: usize = 1;
/// Asleep; not counted as awake.
const ASLEEP: usize = 2;
/// Was woken since it armed itself; counted as awake.
const WOKEN: usize = 3;

/// A process's thread, as others see it.
#[derive(Debug)]
pub struct Actor {
    word: AtomicUsize,
    bed: Bed,
    /// What it waits for, while it sleeps.
    wait: Mutex<Option<Wait>>,
}

/// What a process waits for.
#[derive(Debug, Clone)]
pub struct Wait {
    pub(super) record: Arc<RecordInfo>,
    /// The index of the view that waits.
    pub(super) view: usize,
    pub(super) side: Side,
    /// How many items, or slots.
    pub(super) count: usize,
}

impl Actor {
    fn new() -> Self {
        Self { word: AtomicUsize::new(AWAKE), bed: Bed::default(), wait: Mutex::new(None) }
    }

    /// Wakes the thread if it sleeps, and counts it as awake; if it is about to sleep, it does not.
    pub(super) fn wake(&self, hub: &Hub) {
        // Counted before it can run: it may sleep again, and be counted off, before this thread goes on.
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
}

/// Where a thread sleeps: parked.
#[cfg(not(shuttle))]
#[derive(Debug, Default)]
struct Bed(Mutex<Option<anabranch_record::sync::thread::Thread>>);

#[cfg(not(shuttle))]
impl Bed {
    /// The calling thread will sleep here.
    fn make(&self) {
        *lock(&self.0) = Some(anabranch_record::sync::thread::current());
    }

    fn sleep_while(&self, is_asleep: impl Fn() -> bool) {
        while is_asleep() {
            anabranch_record::sync::thread::park();
        }
    }

    /// To be called once it is no longer asleep.
    fn wake(&self) {
        if let Some(thread) = lock(&self.0).as_ref() {
            thread.unpark();
        }
    }
}

/// The model's parked threads wake for no reason as often as they like, so that a run may have no end: there a thread
/// waits on a condition variable.
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

/// How a process sleeps in a view.
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
        // The end of the network is stored before all are woken: either that wakes this thread, or it is seen here.
        fence(Ordering::SeqCst);
        if self.hub.is_ending() && cfg!(not(mutant = "sleeps_at_the_end")) {
            self.cancel();
            return false;
        }
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

/// Who acts on this thread.
#[derive(Clone)]
struct Handle {
    process: Arc<Process>,
    hub: Arc<Hub>,
}

#[cfg(not(shuttle))]
std::thread_local! {
    /// The id of the process whose thread this is; 0 for none.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    static HANDLE: RefCell<Option<Handle>> = const { RefCell::new(None) };
    /// To whom drops of views are put down: the address of the hub, and the index of the process.
    static ACTING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

#[cfg(shuttle)]
anabranch_record::sync::thread_local! {
    static CURRENT: Cell<u64> = Cell::new(0);
    static HANDLE: RefCell<Option<Handle>> = RefCell::new(None);
    static ACTING: Cell<(usize, usize)> = Cell::new((0, 0));
}

/// The id of the process whose thread this is; 0 for none.
#[inline]
pub(super) fn current() -> u64 {
    CURRENT.with(Cell::get)
}

/// The process whose thread this is, and its network.
pub(super) fn current_process() -> Option<(Arc<Process>, Arc<Hub>)> {
    HANDLE.with(|handle| handle.borrow().clone()).map(|handle| (handle.process, handle.hub))
}

/// Who drops views on this thread, as far as the network of `hub` is concerned.
pub(super) fn closing_by(hub: &Hub) -> Closing {
    // Views may be dropped with a thread's own variables, when these are gone.
    let acting = ACTING.try_with(Cell::get).unwrap_or((0, 0));
    if acting.0 == std::ptr::from_ref(hub).addr() { Closing::Process(acting.1) } else { Closing::Outside }
}

/// What was there before [`Role::play`] or [`Role::act`].
pub(super) struct Role {
    current: u64,
    handle: Option<Handle>,
    acting: (usize, usize),
}

impl Role {
    /// The thread is that of the process until the role is dropped.
    pub(super) fn play(process: &Arc<Process>, hub: &Arc<Hub>) -> Self {
        process.actor.bed.make();
        let handle = Handle { process: Arc::clone(process), hub: Arc::clone(hub) };
        Self::set(process.id, Some(handle), (Arc::as_ptr(hub).addr(), process.index))
    }

    /// The thread is no process's.
    pub(super) fn none() -> Self {
        Self::set(0, None, (0, 0))
    }

    /// The thread fires the rule: views must not wait, and what is dropped is the rule's.
    pub(super) fn act(process: &Process, hub: &Hub) {
        ACTING.with(|acting| acting.set((std::ptr::from_ref(hub).addr(), process.index)));
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
