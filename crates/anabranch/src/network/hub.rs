//! Who is awake in a running network: the one count that tells when it stands still.
//!
//! A process is *awake* unless it sleeps in a view; a worker is awake unless it has found no rule to fire. Only
//! those who are awake can wake others, and a sleeper is counted as awake by the one who wakes it, before that one
//! goes to sleep itself. So when the count falls to 0 it stays there: nobody runs, and whoever sees it (the thread
//! that called `run`) has the whole network for itself. That is how a deadlock is found, without a clock.

use std::collections::VecDeque;

use anabranch_record::sync::{
    Arc, AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, fence, lock,
};

use super::{deadlock::Deadlock, process::Process, records::RecordInfo};

/// Not run yet.
const NEW: usize = 0;
/// Inside `run`.
const RUNNING: usize = 1;
/// Run, or dropped.
const OVER: usize = 2;

/// What the views, processes and workers of one network share, whatever their types.
pub(super) struct Hub {
    /// Processes and workers that are awake.
    awake: AtomicUsize,
    /// How often a process was woken.
    rousings: AtomicUsize,
    /// Processes and rules that have not ended.
    live: AtomicUsize,
    /// Something has gone wrong: who would wait gives up instead.
    ending: AtomicBool,
    phase: AtomicUsize,
    desk: Mutex<Desk>,
    /// The thread that called `run` waits here.
    caller: Condvar,
    /// The other workers wait here.
    helpers: Condvar,
    /// How many workers wait: a copy of what the desk says, to look at without its lock.
    idle: AtomicUsize,
    pub(super) records: Mutex<Vec<Arc<RecordInfo>>>,
    pub(super) processes: Mutex<Vec<Arc<Process>>>,
    /// What went wrong, apart from failures of processes.
    pub(super) wrong: Mutex<Wrong>,
}

/// What ends a network, apart from failures of processes.
#[derive(Default)]
pub(super) struct Wrong {
    /// The network was put together or used wrongly: the first such message.
    pub(super) misuse: Option<String>,
    /// It is certain that it stood still for good.
    pub(super) deadlock: Option<Deadlock>,
    /// It stood still, and went on because views that nobody had used were closed.
    pub(super) suspect: Option<Deadlock>,
}

/// What the idle and those who wake them write to each other.
struct Desk {
    /// Rules to fire, for any worker.
    ready: VecDeque<usize>,
    /// Helpers that wait, and have not been called.
    sleeping: usize,
    /// Helpers that were called and have not looked yet.
    called: usize,
    /// The caller waits, and was not called.
    caller_sleeps: bool,
    /// Every view is to be closed.
    sweep: bool,
    /// Helpers may go.
    over: bool,
}

/// Why the caller of `run` woke up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// A rule is ready.
    Rule(usize),
    /// There may be something to do.
    Look,
    /// Views are to be closed.
    Sweep,
    /// Nobody is awake, and the caller is not counted as awake either.
    Still,
}

impl Hub {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            awake: AtomicUsize::new(0),
            rousings: AtomicUsize::new(0),
            live: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            phase: AtomicUsize::new(NEW),
            desk: Mutex::new(Desk {
                ready: VecDeque::new(),
                sleeping: 0,
                called: 0,
                caller_sleeps: false,
                sweep: false,
                over: false,
            }),
            caller: Condvar::new(),
            helpers: Condvar::new(),
            idle: AtomicUsize::new(0),
            records: Mutex::new(Vec::new()),
            processes: Mutex::new(Vec::new()),
            wrong: Mutex::default(),
        })
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        lock(&self.desk)
    }

    pub(super) fn start(&self) {
        self.phase.store(RUNNING, Ordering::Release);
    }

    /// From now on the views of the network are closed, whoever uses them.
    pub(super) fn finish(&self) {
        self.phase.store(OVER, Ordering::Release);
    }

    pub(super) fn is_over(&self) -> bool {
        self.phase.load(Ordering::Acquire) == OVER
    }

    pub(super) fn is_new(&self) -> bool {
        self.phase.load(Ordering::Acquire) == NEW
    }

    /// One more process or rule.
    pub(super) fn add_live(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// A process or rule has ended, and whoever it may have woken is counted.
    pub(super) fn remove_live(&self) {
        self.live.fetch_sub(1, Ordering::AcqRel);
    }

    pub(super) fn live(&self) -> usize {
        self.live.load(Ordering::Acquire)
    }

    /// Counts one more as awake, before it runs: a new one, or one that is to be woken.
    pub(super) fn rouse(&self) {
        self.awake.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes back a [`rouse`](Self::rouse) of one that was awake before. The caller is awake itself, or has the network
    /// for itself.
    pub(super) fn rouse_nobody(&self) {
        self.awake.fetch_sub(1, Ordering::AcqRel);
    }

    /// One that slept was woken.
    pub(super) fn count_rousing(&self) {
        self.rousings.fetch_add(1, Ordering::Relaxed);
    }

    /// How often somebody was woken. Read by the one who has the network for itself, before and after it
    /// has done something: who was woken may sleep again by then.
    pub(super) fn rousings(&self) -> usize {
        self.rousings.load(Ordering::Relaxed)
    }

    /// Whether a rule waits for a worker.
    pub(super) fn has_rules(&self) -> bool {
        !self.desk().ready.is_empty()
    }

    /// One that was awake sleeps or has ended.
    pub(super) fn rest(&self) {
        if self.awake.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The lock, so that the caller is either about to look at the count or already waits.
            let _desk = self.desk();
            self.caller.notify_one();
        }
    }

    pub(super) fn is_still(&self) -> bool {
        self.awake.load(Ordering::Acquire) == 0
    }

    pub(super) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Everybody is to end: who sleeps is woken, who would sleep gives up, and the caller closes every view.
    pub(super) fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        for process in lock(&self.processes).iter() {
            process.wake(self);
        }
        let mut desk = self.desk();
        desk.sweep = true;
        self.call_caller(&mut desk);
        self.caller.notify_one();
    }

    /// Ends the network because it was put together or used wrongly.
    pub(super) fn misuse(&self, message: String) {
        lock(&self.wrong).misuse.get_or_insert(message);
        self.end();
    }

    /// A view that was closed as forgotten was not: a process that had stood still holds it.
    pub(super) fn is_deadlock_after_all(&self) {
        let mut wrong = lock(&self.wrong);
        if let Some(deadlock) = wrong.suspect.take() {
            wrong.deadlock.get_or_insert(deadlock);
            drop(wrong);
            self.end();
        }
    }

    fn call_caller(&self, desk: &mut Desk) {
        if desk.caller_sleeps {
            desk.caller_sleeps = false;
            self.idle.fetch_sub(1, Ordering::Relaxed);
            self.rouse();
            self.caller.notify_one();
        }
    }

    /// Whether a worker waits for something to do: a hint.
    #[inline]
    pub(super) fn has_idle_workers(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// Gives rules to whoever comes first, and calls as many workers as there are rules.
    pub(super) fn offer(&self, rules: impl IntoIterator<Item = usize>) {
        let mut desk = self.desk();
        for rule in rules {
            desk.ready.push_back(rule);
            if desk.sleeping > 0 {
                desk.sleeping -= 1;
                desk.called += 1;
                self.idle.fetch_sub(1, Ordering::Relaxed);
                self.rouse();
                self.count_rousing();
                self.helpers.notify_one();
            } else {
                self.call_caller(&mut desk);
            }
        }
    }

    pub(super) fn take_rule(&self) -> Option<usize> {
        self.desk().ready.pop_front()
    }

    /// A helper has nothing to do: waits for a rule. `None` at the end.
    pub(super) fn wait_as_helper(&self) -> Option<usize> {
        let mut desk = self.desk();
        loop {
            if desk.over {
                return None;
            }
            if let Some(rule) = desk.ready.pop_front() {
                return Some(rule);
            }
            desk.sleeping += 1;
            self.idle.fetch_add(1, Ordering::Relaxed);
            if self.awake.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.caller.notify_one();
            }
            while desk.called == 0 && !desk.over {
                desk = self.helpers.wait(desk).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            desk.called = desk.called.saturating_sub(1);
        }
    }

    /// The caller has nothing to do. It is counted as awake before, and after, unless everything stands still.
    pub(super) fn wait_as_caller(&self) -> Call {
        let mut desk = self.desk();
        if std::mem::take(&mut desk.sweep) {
            return Call::Sweep;
        }
        if let Some(rule) = desk.ready.pop_front() {
            return Call::Rule(rule);
        }
        desk.caller_sleeps = true;
        self.idle.fetch_add(1, Ordering::Relaxed);
        self.awake.fetch_sub(1, Ordering::AcqRel);
        loop {
            if !desk.caller_sleeps {
                return Call::Look;
            }
            if self.is_still() {
                desk.caller_sleeps = false;
                self.idle.fetch_sub(1, Ordering::Relaxed);
                return Call::Still;
            }
            desk = self.caller.wait(desk).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Lets the helpers go.
    pub(super) fn dismiss(&self) {
        self.desk().over = true;
        self.helpers.notify_all();
    }
}

/// Closes the views of a network that is dropped without having been run.
pub(super) struct Unrun(pub(super) Arc<Hub>);

impl Drop for Unrun {
    fn drop(&mut self) {
        if self.0.is_new() {
            self.0.finish();
        }
    }
}
