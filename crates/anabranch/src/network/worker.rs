//! Workers: threads that fire the rules of a network.
//!
//! Each worker has a slot for the rule that it fires next, and a queue of its own. If a worker pokes a rule,
//! the rule goes into the slot of that worker, and the rule that was there goes to the back of the worker's
//! queue. Rules that are too many for the queue go to the hub, which calls idle workers. So do rules that are
//! poked by threads other than workers, and all rules of a worker that takes long while another one is idle. The
//! slot comes before the queue, but not in every turn, so that the rules in the queue get their turns.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::Moment;

use super::{
    board::{Board, Member, Outcome},
    hub::{Call, Hub},
    process::Role,
    rule::{RuleLink, Step},
};

/// How many times a rule fires before another rule gets its turn.
pub(super) const FIRINGS: usize = 64;
/// How many rules a worker keeps in its own queue.
const KEPT: usize = 32;
/// In one of this many turns, a worker takes a rule from the hub or the queue before the one in the slot.
const SLOT_FIRST: u32 = 64;

/// A firing that takes at least this long is worth moving the rule in the slot to an idle worker.
const LONG_FIRING_NS: u64 = 1_000;

/// No rule.
const NONE: usize = usize::MAX;

#[cfg(not(shuttle))]
std::thread_local! {
    /// The address of the hub whose worker this thread is. 0 if it is no worker.
    static WORKS_FOR: Cell<usize> = const { Cell::new(0) };
    /// The number of this worker. `NONE` if it is one of a pool, or no worker.
    static NUMBER: Cell<usize> = const { Cell::new(NONE) };
    /// The rule to fire next.
    static NEXT: Cell<usize> = const { Cell::new(NONE) };
    static KEPT_RULES: RefCell<VecDeque<usize>> = const { RefCell::new(VecDeque::new()) };
}

#[cfg(shuttle)]
anabranch_record::sync::thread_local! {
    static WORKS_FOR: Cell<usize> = Cell::new(0);
    static NUMBER: Cell<usize> = Cell::new(NONE);
    static NEXT: Cell<usize> = Cell::new(NONE);
    static KEPT_RULES: RefCell<VecDeque<usize>> = RefCell::new(VecDeque::new());
}

/// The number of the calling worker: 0 for the thread that called `run`. `None` for a thread of a pool, and for one that is no
/// worker.
pub(super) fn number() -> Option<usize> {
    Some(NUMBER.try_with(Cell::get).unwrap_or(NONE)).filter(|number| *number != NONE)
}

/// Puts a rule into a queue, to be fired soon.
#[inline]
pub(super) fn enqueue(hub: &Hub, rule: usize) {
    // A view may be dropped when the thread-local variables of the thread are gone already.
    if WORKS_FOR.try_with(Cell::get).unwrap_or(0) != std::ptr::from_ref(hub).addr() {
        return hub.offer([rule]);
    }
    if hub.is_elsewhere(rule) {
        return hub.offer([rule]);
    }
    let other = NEXT.with(|next| next.replace(rule));
    if other != NONE {
        enqueue_last(hub, other);
    }
}

/// Puts a rule at the end of a queue.
#[inline]
pub(super) fn enqueue_last(hub: &Hub, rule: usize) {
    let works_here = WORKS_FOR.try_with(Cell::get).unwrap_or(0) == std::ptr::from_ref(hub).addr();
    if !works_here || hub.has_idle_workers() || hub.is_elsewhere(rule) {
        return hub.offer([rule]);
    }
    let surplus = KEPT_RULES.with(|kept| {
        let mut kept = kept.borrow_mut();
        kept.push_back(rule);
        if kept.len() > KEPT { kept.pop_front() } else { None }
    });
    if let Some(rule) = surplus {
        hub.offer([rule]);
    }
}

/// A guard: the thread is a worker until it is dropped.
struct Badge {
    before: usize,
    number: usize,
    next: usize,
    kept: VecDeque<usize>,
    role: Role,
}

impl Badge {
    fn new(hub: &Hub, number: Option<usize>) -> Self {
        Self {
            before: WORKS_FOR.with(|hub_of| hub_of.replace(std::ptr::from_ref(hub).addr())),
            number: NUMBER.with(|own| own.replace(number.unwrap_or(NONE))),
            next: NEXT.with(|next| next.replace(NONE)),
            kept: KEPT_RULES.with(|kept| std::mem::take(&mut *kept.borrow_mut())),
            // The code of a rule must not wait in a view. So the thread is no process's thread while it fires
            // rules.
            role: Role::none(),
        }
    }
}

impl Drop for Badge {
    fn drop(&mut self) {
        let _ = &self.role;
        WORKS_FOR.with(|hub| hub.set(self.before));
        NUMBER.with(|number| number.set(self.number));
        NEXT.with(|next| next.set(self.next));
        KEPT_RULES.with(|kept| *kept.borrow_mut() = std::mem::take(&mut self.kept));
    }
}

/// Whether this worker has a rule in its slot or its queue.
pub(super) fn has_rules() -> bool {
    NEXT.with(Cell::get) != NONE || KEPT_RULES.with(|kept| !kept.borrow().is_empty())
}

/// Takes the next rule: from the slot, the worker's queue, or the hub.
fn take(hub: &Hub, turn: u32) -> Option<usize> {
    let slot = || Some(NEXT.with(|next| next.replace(NONE))).filter(|&rule| rule != NONE);
    let kept = || KEPT_RULES.with(|kept| kept.borrow_mut().pop_front());
    if turn % SLOT_FIRST != SLOT_FIRST - 1 {
        return slot().or_else(kept).or_else(|| hub.take_rule());
    }
    hub.take_rule().or_else(kept).or_else(slot)
}

/// Gives the rules in this worker's queue to the hub, if other workers are idle.
fn share(hub: &Hub) {
    if hub.has_idle_workers() {
        let kept = KEPT_RULES.with(|kept| std::mem::take(&mut *kept.borrow_mut()));
        if !kept.is_empty() {
            hub.offer(kept);
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
    pub(super) fn between_firings(&mut self, hub: &Hub) {
        if self.is_over {
            return;
        }
        if hub.has_idle_workers() {
            self.give(hub);
        } else {
            self.before = None;
        }
    }

    #[cold]
    fn give(&mut self, hub: &Hub) {
        share(hub);
        let now = Moment::now();
        if let Some(before) = self.before {
            // A model checker has no time, and goes through both.
            self.is_over = now.since(before) < LONG_FIRING_NS && !cfg!(shuttle);
            if !self.is_over && hub.has_idle_workers() {
                let rule = NEXT.with(|next| next.replace(NONE));
                if rule != NONE {
                    hub.offer([rule]);
                }
            }
        }
        self.before = Some(now);
    }
}

/// Works on the thread that called `run`, until every process has ended. Calls `call_helpers` when there are
/// more rules than before. `number` is the number of the worker that this thread is, if workers have numbers.
pub(super) fn lead<E: Send>(board: &Board<'_, E>, number: Option<usize>, call_helpers: impl Fn()) {
    let hub = &*board.hub;
    let _badge = Badge::new(hub, number);
    if hub.is_alone() {
        return lead_alone(board);
    }
    let (mut turn, mut vain) = (0u32, 0);
    loop {
        while let Some(rule) = take(hub, turn) {
            if hub.has_new_rules() {
                call_helpers();
            }
            turn = turn.wrapping_add(1);
            fire(board, rule);
            share(hub);
        }
        if let Some(rule) = hub.spin(&mut vain) {
            fire(board, rule);
            continue;
        }
        let call = hub.wait_as_caller();
        if hub.has_new_rules() {
            call_helpers();
        }
        match call {
            Call::Rule(rule) => fire(board, rule),
            Call::Look => {}
            Call::Sweep => board.close_all(),
            Call::Still => {
                if hub.live() == 0 {
                    return hub.dismiss();
                }
                board.stands_still();
                hub.rouse();
            }
        }
    }
}

/// Works as the only thread of the network, which has rules alone. So there are no other threads to wake, and no
/// process that creates rules.
fn lead_alone<'env, E: Send>(board: &Board<'env, E>) {
    let hub = &*board.hub;
    let mut cells: Vec<(&RuleLink, Vec<Member<'env, E>>)> =
        board.rules.iter().map(|cell| (&*cell.link, Vec::new())).collect();
    // The rules are taken out of their batons, which no other thread wants.
    let exchange = |cells: &mut Vec<(&RuleLink, Vec<Member<'env, E>>)>| {
        for (cell, (_, members)) in board.rules.iter().zip(cells) {
            if let Some(mut held) = cell.baton.poke() {
                std::mem::swap(held.state(), members);
                held.let_go();
            }
        }
    };
    exchange(&mut cells);
    let mut turn = 0u32;
    loop {
        while let Some(rule) = take(hub, turn) {
            turn = turn.wrapping_add(1);
            if let Some((link, members)) = cells.get_mut(rule) {
                link.dequeued();
                if look_at(board, members, true) == Look::Again {
                    link.poke_last();
                }
            }
        }
        match hub.wait_as_caller() {
            Call::Rule(rule) => enqueue(hub, rule),
            Call::Look => {}
            Call::Sweep => board.close_all(),
            Call::Still => {
                if hub.live() == 0 {
                    return hub.dismiss();
                }
                exchange(&mut cells);
                board.stands_still();
                exchange(&mut cells);
                hub.rouse();
            }
        }
    }
}

/// Works on another thread, until the network has ended. A thread of a pool has no number.
pub(super) fn help<E: Send>(board: &Board<'_, E>, number: Option<usize>) {
    let hub = &*board.hub;
    let _badge = Badge::new(hub, number);
    let (mut turn, mut vain) = (0u32, 0);
    loop {
        while let Some(rule) = take(hub, turn) {
            turn = turn.wrapping_add(1);
            fire(board, rule);
            share(hub);
        }
        if let Some(rule) = hub.spin(&mut vain) {
            fire(board, rule);
            continue;
        }
        match hub.wait_as_helper() {
            Some(rule) => fire(board, rule),
            None => return,
        }
    }
}

/// Gives a rule its turn.
fn fire<E: Send>(board: &Board<'_, E>, rule: usize) {
    let Some(cell) = board.rules.get(rule) else { return };
    cell.link.dequeued();
    let Some(mut held) = cell.baton.poke() else { return };
    loop {
        let look = look_at(board, held.state(), false);
        if look == Look::Over {
            return held.close();
        }
        let again = look == Look::Again;
        if !again {
            cell.link.looked();
        }
        match held.release() {
            // Another worker has poked the rule meanwhile, and has left it to this one.
            Some(more) => held = more,
            None if again && cfg!(not(mutant = "no_turn_after_the_first")) => return cell.link.poke_last(),
            None => return,
        }
    }
}

/// The outcome of a look at the rules of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// All rules wait.
    Idle,
    /// A rule could fire again.
    Again,
    /// All rules have ended.
    Over,
}

/// Lets the rules of a cell fire. Rules that exchange items poke their cell, so one look at each is enough.
#[inline]
fn look_at<'env, E: Send>(board: &Board<'env, E>, members: &mut [Member<'env, E>], is_alone: bool) -> Look {
    let mut look = Look::Over;
    for member in members {
        match step(board, member, is_alone) {
            None => {}
            Some(true) if look == Look::Over => look = Look::Idle,
            Some(true) => {}
            Some(false) => look = Look::Again,
        }
    }
    look
}

/// Lets a rule of a cell fire. Returns whether it waits, or `None` if it has ended.
#[inline]
fn step<'env, E: Send>(board: &Board<'env, E>, member: &mut Member<'env, E>, is_alone: bool) -> Option<bool> {
    let hub = &*board.hub;
    let body = member.body.as_mut()?;
    let step = if hub.is_ending() {
        member.process.notice_own(super::records::Closing::Ending);
        Step::Over(Ok(()))
    } else {
        Role::act(member.index, hub);
        match catch_unwind(AssertUnwindSafe(|| body.step(member.firings, (!is_alone).then_some(hub)))) {
            Ok(step) => step,
            Err(payload) => {
                board.retire(member, Some(Outcome::Panic(payload)));
                return None;
            }
        }
    };
    match step {
        Step::Idle => Some(true),
        Step::Again => Some(false),
        Step::Over(result) => {
            board.retire(member, result.err().map(Outcome::Error));
            None
        }
        Step::Misuse(complaint) => {
            hub.misuse(format!("rule \"{}\" {complaint}", member.process.name));
            board.retire(member, None);
            None
        }
    }
}
