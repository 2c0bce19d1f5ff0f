//! The count of the threads that are awake in a running network. It tells when the network is in a deadlock.
//!
//! A process is *awake* unless it sleeps in a view. A worker is awake unless it has found no rule to fire.
//! Only awake threads can wake others. A thread that wakes another one first counts it as awake, and goes to
//! sleep itself only later. So a count that has fallen to 0 stays there: no thread runs any more, and the
//! thread that called `run` may do with the network what it likes. In this way a deadlock is found without a
//! clock. `crates/network/PROTOCOL.md` has the rules, N1 to N10.

use std::collections::VecDeque;
use std::sync::OnceLock;

use anabranch_record::backoff::{Backoff, Polling};
use anabranch_record::fork::{Birth, Guard};
use anabranch_record::sync::{
    AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, Padded, fence, lock,
};

use anabranch::host::processors;

use super::placed::PlacedRules;

/// The count of the threads that are awake, and the queue of rules at which workers wait.
pub(super) struct Awake {
    /// How many processes and workers are awake.
    awake: AtomicUsize,
    /// How many times a process or a helper was woken.
    rousings: AtomicUsize,
    /// Whether the network ends because something has gone wrong. Calls that would wait return instead.
    ending: AtomicBool,
    queue: Mutex<RuleQueue>,
    /// The thread that called `run` waits here.
    caller: Condvar,
    /// The other workers wait here.
    helpers: Condvar,
    /// How many workers wait or poll. For those that wait, a copy of the numbers in the queue, which is read without its lock.
    idle: AtomicUsize,
    /// Whether one thread alone runs the network.
    is_alone: AtomicBool,
    /// How many rules are in the queue. A copy, which is read without its lock.
    waiting_rules: AtomicUsize,
    /// How long idle workers poll before they wait.
    backoff: Padded<Backoff>,
    /// Whether a process has created rules, for which there may be too few helpers.
    new_rules: AtomicBool,
    /// The workers of rules that were placed on cores. Set before the run.
    placed: OnceLock<PlacedRules>,
    /// The process of the run, once it has begun.
    birth: OnceLock<Birth>,
}

/// The state by which idle workers are called.
struct RuleQueue {
    /// Rules to fire, for any worker.
    ready: VecDeque<usize>,
    /// How many helpers wait and have not been called.
    sleeping: usize,
    /// How many helpers were called and have not looked yet.
    called: usize,
    /// Whether the thread that called `run` waits and has not been called.
    caller_sleeps: bool,
    /// Whether every view is to be closed.
    sweep: bool,
    /// Whether the helpers are to return.
    over: bool,
}

/// The reason why the wait of the thread that called `run` has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// This rule is ready.
    Rule(usize),
    /// There may be something to do.
    Look,
    /// Every view is to be closed.
    Sweep,
    /// No thread is awake. The thread that called `run` is not counted as awake either.
    Still,
}

impl Awake {
    pub(super) fn new() -> Self {
        Self {
            awake: AtomicUsize::new(0),
            rousings: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            queue: Mutex::new(RuleQueue {
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
            is_alone: AtomicBool::new(false),
            waiting_rules: AtomicUsize::new(0),
            backoff: Padded::new(Backoff::new()),
            new_rules: AtomicBool::new(false),
            placed: OnceLock::new(),
            birth: OnceLock::new(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, RuleQueue> {
        lock(&self.queue)
    }

    /// Says that the run begins, in this process.
    pub(super) fn begin(&self) {
        let _ = self.birth.set(Birth::here());
    }

    /// A guard that ends a forked process when it is dropped. It is held while threads of the network may be in a scope, which
    /// waits for them, also when it unwinds.
    pub(super) fn guard(&self) -> Option<Guard> {
        self.birth.get().map(|birth| birth.guard())
    }

    /// Ends a process that was forked by a rule or a process of the network. To be called where a thread is about to wait for others.
    pub(super) fn end_if_forked(&self) {
        if let Some(birth) = self.birth.get() {
            birth.end_if_forked();
        }
    }

    /// Says that one thread alone will run the network.
    pub(super) fn set_alone(&self) {
        self.is_alone.store(true, Ordering::Relaxed);
    }

    /// Whether one thread alone runs the network.
    pub(super) fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Relaxed)
    }

    /// Counts a thread as awake: a new thread, or one that is to be woken. To be called before the thread
    /// runs.
    pub(super) fn rouse(&self) {
        self.awake.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes back a [`rouse`](Self::rouse), because the thread was awake already. The calling thread must be
    /// awake itself, or no thread of the network may be awake.
    pub(super) fn rouse_nobody(&self) {
        self.awake.fetch_sub(1, Ordering::AcqRel);
    }

    /// Counts that a sleeping thread was woken.
    pub(super) fn count_rousing(&self) {
        self.rousings.fetch_add(1, Ordering::Relaxed);
    }

    /// How many times a sleeping thread was woken. The thread that called `run` compares two of these numbers
    /// to find out whether its work in between has woken a thread. It cannot look at the thread itself, which
    /// may sleep again.
    pub(super) fn rousings(&self) -> usize {
        self.rousings.load(Ordering::Relaxed)
    }

    /// Notes that a process has created a rule.
    pub(super) fn note_new_rule(&self) {
        self.new_rules.store(true, Ordering::Relaxed);
    }

    /// Whether a process has created rules since the last call.
    #[inline]
    pub(super) fn has_new_rules(&self) -> bool {
        self.new_rules.load(Ordering::Relaxed) && self.new_rules.swap(false, Ordering::Relaxed)
    }

    /// Whether a rule waits for a worker.
    pub(super) fn has_rules(&self) -> bool {
        !self.queue().ready.is_empty()
    }

    /// Counts a thread as not awake: it sleeps, or it has ended.
    pub(super) fn rest(&self) {
        if self.awake.fetch_sub(1, Ordering::AcqRel) == 1 {
            // With the lock held, the caller of `run` either will still look at the count, or waits already.
            let _queue = self.queue();
            self.caller.notify_one();
        }
    }

    pub(super) fn is_still(&self) -> bool {
        self.awake.load(Ordering::Acquire) == 0
    }

    pub(super) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Says that the network ends because something has gone wrong. To be called before anything is woken.
    pub(super) fn set_ending(&self) {
        self.ending.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Lets the thread that called `run` close every view.
    pub(super) fn call_for_sweep(&self) {
        let mut queue = self.queue();
        queue.sweep = true;
        self.call_caller(&mut queue);
        self.caller.notify_one();
    }

    fn call_caller(&self, queue: &mut RuleQueue) {
        if queue.caller_sleeps {
            queue.caller_sleeps = false;
            self.idle.fetch_sub(1, Ordering::Relaxed);
            self.rouse();
            self.caller.notify_one();
        }
    }

    /// Whether a worker waits for something to do. The answer is a hint: it may be outdated.
    #[inline]
    pub(super) fn has_idle_workers(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// Says that rules are placed on cores. To be called before the run, once.
    pub(super) fn set_placed(&self, placed: PlacedRules) {
        let _ = self.placed.set(placed);
    }

    /// The workers of rules that were placed on cores, if any were.
    pub(super) fn placed(&self) -> Option<&PlacedRules> {
        self.placed.get()
    }

    /// Whether the rule was placed on the core of another worker than the calling one.
    #[inline]
    pub(super) fn is_elsewhere(&self, rule: usize) -> bool {
        self.placed.get().is_some_and(|placed| placed.is_elsewhere(rule))
    }

    /// Puts rules into the queue for all workers, and calls a waiting worker for each of them.
    pub(super) fn offer(&self, rules: impl IntoIterator<Item = usize>) {
        let mut queue = self.queue();
        for rule in rules {
            queue.ready.push_back(rule);
            if queue.sleeping > 0 {
                queue.sleeping -= 1;
                queue.called += 1;
                self.idle.fetch_sub(1, Ordering::Relaxed);
                self.rouse();
                self.count_rousing();
                self.helpers.notify_one();
            } else {
                self.call_caller(&mut queue);
            }
        }
        self.waiting_rules.store(queue.ready.len(), Ordering::Relaxed);
    }

    pub(super) fn take_rule(&self) -> Option<usize> {
        self.take_from(&mut self.queue())
    }

    fn take_from(&self, queue: &mut RuleQueue) -> Option<usize> {
        // A rule of another core is better than none: it may be long until that core's worker has time.
        let at = queue.ready.iter().position(|rule| !self.is_elsewhere(*rule)).unwrap_or(0);
        let rule = queue.ready.remove(at);
        self.waiting_rules.store(queue.ready.len(), Ordering::Relaxed);
        rule
    }

    /// Polls for a rule, as a worker that has nothing to do. The worker counts as awake meanwhile, and as idle, so that others
    /// give it rules.
    ///
    /// Waking a thread takes longer than many firings, and a worker without a rule often gets one soon.
    pub(super) fn poll(&self) -> Option<usize> {
        if processors() == 1 || self.backoff.is_polling() {
            return None;
        }
        self.idle.fetch_add(1, Ordering::Relaxed);
        let look = || match self.waiting_rules.load(Ordering::Relaxed) {
            0 => self.is_ending().then_some(None),
            _ => self.take_rule().map(Some),
        };
        let rule = self.backoff.poll(Polling::Busy, look).flatten();
        self.idle.fetch_sub(1, Ordering::Relaxed);
        rule
    }

    /// Waits for a rule, as a helper that has nothing to do. Returns `None` when the network has ended.
    pub(super) fn wait_as_helper(&self) -> Option<usize> {
        let mut queue = self.queue();
        loop {
            if queue.over {
                return None;
            }
            if let Some(rule) = self.take_from(&mut queue) {
                return Some(rule);
            }
            queue.sleeping += 1;
            self.idle.fetch_add(1, Ordering::Relaxed);
            if self.awake.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.caller.notify_one();
            }
            while queue.called == 0 && !queue.over {
                self.end_if_forked();
                queue = self.helpers.wait(queue).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            queue.called = queue.called.saturating_sub(1);
        }
    }

    /// Waits for something to do, as the thread that called `run`. This thread is counted as awake before the
    /// call, and after it too, unless the result is [`Call::Still`].
    pub(super) fn wait_as_caller(&self) -> Call {
        let mut queue = self.queue();
        if std::mem::take(&mut queue.sweep) {
            return Call::Sweep;
        }
        if let Some(rule) = self.take_from(&mut queue) {
            return Call::Rule(rule);
        }
        queue.caller_sleeps = true;
        self.idle.fetch_add(1, Ordering::Relaxed);
        self.awake.fetch_sub(1, Ordering::AcqRel);
        loop {
            if !queue.caller_sleeps {
                return Call::Look;
            }
            if self.is_still() {
                queue.caller_sleeps = false;
                self.idle.fetch_sub(1, Ordering::Relaxed);
                return Call::Still;
            }
            self.end_if_forked();
            queue = self.caller.wait(queue).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Makes the helpers return.
    pub(super) fn dismiss(&self) {
        self.queue().over = true;
        self.helpers.notify_all();
    }
}
