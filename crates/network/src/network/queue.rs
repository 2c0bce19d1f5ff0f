//! How a rule gets a worker: each worker has a slot for the rule that it fires next, and a queue of its own.
//!
//! If a worker pokes a rule, the rule goes into the slot of that worker, and the rule that was there goes to the back of
//! the worker's queue. Rules that are too many for the queue go to the network, which calls idle workers. So do rules that
//! are poked by threads other than workers, and all rules of a worker that takes long while another one is idle. The
//! slot comes before the queue, but not in every turn, so that the rules in the queue get their turns.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;

use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, Ordering};

use anabranch::host::Moment;

use super::{placed, role::Role, state::NetworkState};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const RULE_IS_DEQUEUED_LATE: Mutant = Mutant("rule_is_dequeued_late");

/// How many rules a worker keeps in its own queue.
const KEPT: usize = 32;
/// A worker takes the rule in the slot first, except in one of this many turns: then it looks at the network and the queue first.
const SLOT_LAST_EVERY: u32 = 64;

/// A firing that takes at least this long is worth moving the rule in the slot to an idle worker.
const LONG_FIRING_NS: u64 = 1_000;

/// No rule.
const NONE: usize = usize::MAX;

#[cfg(not(shuttle))]
std::thread_local! {
    /// The address of the network whose worker this thread is. 0 if it is no worker.
    static WORKS_FOR: Cell<usize> = const { Cell::new(0) };
    /// The rule to fire next.
    static NEXT: Cell<usize> = const { Cell::new(NONE) };
    static KEPT_RULES: RefCell<VecDeque<usize>> = const { RefCell::new(VecDeque::new()) };
}

#[cfg(shuttle)]
anabranch_record::sync::thread_local! {
    static WORKS_FOR: Cell<usize> = Cell::new(0);
    static NEXT: Cell<usize> = Cell::new(NONE);
    static KEPT_RULES: RefCell<VecDeque<usize>> = RefCell::new(VecDeque::new());
}

/// A rule, in the form in which its records know it.
pub struct RuleLink {
    pub(super) index: usize,
    pub(super) network: Arc<NetworkState>,
    /// Whether the rule is in a queue, and waits for a worker.
    queued: AtomicBool,
    /// Whether one thread alone runs the network, so that no atomic exchange is needed.
    is_alone: AtomicBool,
}

impl fmt::Debug for RuleLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleLink").field("index", &self.index).finish_non_exhaustive()
    }
}

impl RuleLink {
    /// A link that counts as queued until it is started, so that no worker looks for the rule before it is
    /// there.
    pub(super) fn new(index: usize, network: &Arc<NetworkState>) -> Arc<Self> {
        let (queued, is_alone) = (AtomicBool::new(true), AtomicBool::new(false));
        Arc::new(Self { index, network: Arc::clone(network), queued, is_alone })
    }

    /// Says that one thread alone runs the network.
    pub(super) fn set_alone(&self) {
        self.is_alone.store(true, Ordering::Relaxed);
    }

    /// Stores whether the rule is in a queue, and returns whether it was.
    #[inline]
    fn swap_queued(&self, queued: bool) -> bool {
        if self.is_alone.load(Ordering::Relaxed) {
            let before = self.queued.load(Ordering::Relaxed);
            self.queued.store(queued, Ordering::Relaxed);
            return before;
        }
        self.queued.swap(queued, Ordering::AcqRel)
    }

    /// Puts the new rule into a queue. To be called once, when the rule is in the list of rules and the network runs.
    pub(super) fn start(&self) {
        enqueue(&self.network, self.index);
    }

    /// Puts the rule into a queue, so that a worker looks at it. If the rule is in a queue already, that
    /// worker's look is enough: the atomic exchanges make sure that it sees everything that was done before
    /// this call.
    #[inline]
    pub(super) fn poke(&self) {
        if !self.swap_queued(true) {
            enqueue(&self.network, self.index);
        }
    }

    /// Like [`poke`](Self::poke), but puts the rule behind all others.
    pub(super) fn poke_last(&self) {
        if !self.swap_queued(true) {
            enqueue_last(&self.network, self.index);
        }
    }

    /// Notes that a worker has taken the rule out of the queue. The worker looks at the rule after this call.
    #[inline]
    pub(super) fn dequeued(&self) {
        if !RULE_IS_DEQUEUED_LATE.is_on() {
            self.swap_queued(false);
        }
    }

    /// Called after the look. Only the mutant takes its note here.
    #[inline]
    pub(super) fn looked(&self) {
        if RULE_IS_DEQUEUED_LATE.is_on() {
            self.swap_queued(false);
        }
    }
}

/// Puts a rule into a queue, to be fired soon.
#[inline]
pub(super) fn enqueue(network: &NetworkState, rule: usize) {
    // A view may be dropped when the thread-local variables of the thread are gone already.
    if WORKS_FOR.try_with(Cell::get).unwrap_or(0) != std::ptr::from_ref(network).addr() {
        return network.offer([rule]);
    }
    if network.is_elsewhere(rule) {
        return network.offer([rule]);
    }
    let other = NEXT.with(|next| next.replace(rule));
    if other != NONE {
        enqueue_last(network, other);
    }
}

/// Puts a rule at the end of a queue.
#[inline]
pub(super) fn enqueue_last(network: &NetworkState, rule: usize) {
    let works_here = WORKS_FOR.try_with(Cell::get).unwrap_or(0) == std::ptr::from_ref(network).addr();
    if !works_here || network.has_idle_workers() || network.is_elsewhere(rule) {
        return network.offer([rule]);
    }
    let surplus = KEPT_RULES.with(|kept| {
        let mut kept = kept.borrow_mut();
        kept.push_back(rule);
        if kept.len() > KEPT { kept.pop_front() } else { None }
    });
    if let Some(rule) = surplus {
        network.offer([rule]);
    }
}

/// A guard: the thread is a worker until it is dropped.
pub(super) struct WorkerGuard {
    before: usize,
    number: Option<usize>,
    next: usize,
    kept: VecDeque<usize>,
    role: Role,
}

impl WorkerGuard {
    pub(super) fn new(network: &NetworkState, number: Option<usize>) -> Self {
        Self {
            before: WORKS_FOR.with(|network_of| network_of.replace(std::ptr::from_ref(network).addr())),
            number: placed::replace_number(number),
            next: NEXT.with(|next| next.replace(NONE)),
            kept: KEPT_RULES.with(|kept| std::mem::take(&mut *kept.borrow_mut())),
            // The code of a rule must not wait in a view. So the thread is no process's thread while it fires
            // rules.
            role: Role::none(),
        }
    }
}

impl Drop for WorkerGuard {
    fn drop(&mut self) {
        let _ = &self.role;
        WORKS_FOR.with(|network| network.set(self.before));
        placed::replace_number(self.number);
        NEXT.with(|next| next.set(self.next));
        KEPT_RULES.with(|kept| *kept.borrow_mut() = std::mem::take(&mut self.kept));
    }
}

/// Whether this worker has a rule in its slot or its queue.
pub(super) fn has_rules() -> bool {
    NEXT.with(Cell::get) != NONE || KEPT_RULES.with(|kept| !kept.borrow().is_empty())
}

/// Takes the next rule: from the slot, the worker's queue, or the network.
pub(super) fn take(network: &NetworkState, turn: u32) -> Option<usize> {
    let slot = || Some(NEXT.with(|next| next.replace(NONE))).filter(|&rule| rule != NONE);
    let kept = || KEPT_RULES.with(|kept| kept.borrow_mut().pop_front());
    if turn % SLOT_LAST_EVERY != SLOT_LAST_EVERY - 1 {
        return slot().or_else(kept).or_else(|| network.take_rule());
    }
    network.take_rule().or_else(kept).or_else(slot)
}

/// Gives the rules in this worker's queue to the network, if other workers are idle.
pub(super) fn share(network: &NetworkState) {
    if network.has_idle_workers() {
        let kept = KEPT_RULES.with(|kept| std::mem::take(&mut *kept.borrow_mut()));
        if !kept.is_empty() {
            network.offer(kept);
        }
    }
}

/// Gives rules of this worker to idle ones while it fires a rule several times in one turn.
///
/// The rules in the queue are given away at once. The rule in the slot stays, because its items are in this core's cache,
/// unless a firing takes longer than another worker needs to fetch them.
#[derive(Debug, Default)]
pub(super) struct Giving {
    /// The end of the firing before, if an idle worker was seen then.
    before: Option<Moment>,
    /// Whether the firings are short, so that nothing is to be looked for before the end of the turn.
    is_over: bool,
}

impl Giving {
    /// Called between two firings of a rule.
    #[inline]
    pub(super) fn between_firings(&mut self, network: &NetworkState) {
        if self.is_over {
            return;
        }
        if network.has_idle_workers() {
            self.give(network);
        } else {
            self.before = None;
        }
    }

    #[cold]
    fn give(&mut self, network: &NetworkState) {
        share(network);
        let now = Moment::now();
        if let Some(before) = self.before {
            // A model checker has no time, and goes through both.
            self.is_over = now.since(before) < LONG_FIRING_NS && !cfg!(shuttle);
            if !self.is_over && network.has_idle_workers() {
                let rule = NEXT.with(|next| next.replace(NONE));
                if rule != NONE {
                    network.offer([rule]);
                }
            }
        }
        self.before = Some(now);
    }
}
