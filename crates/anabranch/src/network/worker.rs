//! Workers: threads that fire the rules of a network.
//!
//! A rule that is poked goes to the worker that poked it, into a slot from which that worker takes its next rule; the
//! rule that was there goes to the back of the worker's own queue. What is too much for one worker, and what threads
//! poke that are no workers, goes to the hub, which calls idle workers. A worker takes the rule in the slot at most
//! so many times in a row.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{
    board::{Board, Outcome},
    hub::{Call, Hub},
    process::Role,
    rule::Step,
};

/// How often a rule fires before another one has its turn.
const FIRINGS: usize = 64;
/// How many rules a worker keeps to itself.
const KEPT: usize = 32;
/// How often the slot goes before the queue.
const SLOT_FIRST: u32 = 64;

/// No rule.
const NONE: usize = usize::MAX;

#[cfg(not(shuttle))]
std::thread_local! {
    /// The address of the hub that the thread is a worker of; 0 for none.
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

/// Puts a rule into a queue, to be fired soon.
#[inline]
pub(super) fn enqueue(hub: &Hub, rule: usize) {
    // A thread's last drops may come after its variables are gone.
    if WORKS_FOR.try_with(Cell::get).unwrap_or(0) != std::ptr::from_ref(hub).addr() {
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
    if WORKS_FOR.try_with(Cell::get).unwrap_or(0) != std::ptr::from_ref(hub).addr() || hub.has_idle_workers()
    {
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

/// The thread is a worker until this is dropped.
struct Badge {
    before: usize,
    next: usize,
    kept: VecDeque<usize>,
    role: Role,
}

impl Badge {
    fn new(hub: &Hub) -> Self {
        Self {
            before: WORKS_FOR.with(|hub_of| hub_of.replace(std::ptr::from_ref(hub).addr())),
            next: NEXT.with(|next| next.replace(NONE)),
            kept: KEPT_RULES.with(|kept| std::mem::take(&mut *kept.borrow_mut())),
            // Rules must not wait in views, not even in those of a process whose thread this is.
            role: Role::none(),
        }
    }
}

impl Drop for Badge {
    fn drop(&mut self) {
        let _ = &self.role;
        WORKS_FOR.with(|hub| hub.set(self.before));
        NEXT.with(|next| next.set(self.next));
        KEPT_RULES.with(|kept| *kept.borrow_mut() = std::mem::take(&mut self.kept));
    }
}

/// Whether this worker keeps a rule.
pub(super) fn has_rules() -> bool {
    NEXT.with(Cell::get) != NONE || KEPT_RULES.with(|kept| !kept.borrow().is_empty())
}

/// The next rule of those that this worker keeps, or of those that nobody has.
fn take(hub: &Hub, turn: u32) -> Option<usize> {
    let slot = || Some(NEXT.with(|next| next.replace(NONE))).filter(|&rule| rule != NONE);
    let kept = || KEPT_RULES.with(|kept| kept.borrow_mut().pop_front());
    if turn % SLOT_FIRST != SLOT_FIRST - 1 {
        return slot().or_else(kept).or_else(|| hub.take_rule());
    }
    hub.take_rule().or_else(kept).or_else(slot)
}

/// Gives away what this worker keeps, if others have nothing to do.
fn share(hub: &Hub) {
    if hub.has_idle_workers() {
        let kept = KEPT_RULES.with(|kept| std::mem::take(&mut *kept.borrow_mut()));
        if !kept.is_empty() {
            hub.offer(kept);
        }
    }
}

/// Works as the thread that called `run`, until every process has ended.
pub(super) fn lead<E: Send>(board: &Board<'_, E>) {
    let hub = &*board.hub;
    let _badge = Badge::new(hub);
    let mut turn = 0u32;
    loop {
        while let Some(rule) = take(hub, turn) {
            turn = turn.wrapping_add(1);
            fire(board, rule);
            share(hub);
        }
        match hub.wait_as_caller() {
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

/// Works as another thread, until it is dismissed.
pub(super) fn help<E: Send>(board: &Board<'_, E>) {
    let hub = &*board.hub;
    let _badge = Badge::new(hub);
    let mut turn = 0u32;
    loop {
        while let Some(rule) = take(hub, turn) {
            turn = turn.wrapping_add(1);
            fire(board, rule);
            share(hub);
        }
        match hub.wait_as_helper() {
            Some(rule) => fire(board, rule),
            None => return,
        }
    }
}

/// Lets a rule have its turn.
fn fire<E: Send>(board: &Board<'_, E>, rule: usize) {
    let hub = &*board.hub;
    let cell = &board.rules()[rule];
    cell.link.dequeued();
    let Some(mut held) = cell.baton.poke() else { return };
    loop {
        let Some(body) = held.state() else { return held.close() };
        let step = if hub.is_ending() {
            cell.process.notice_own(super::records::Closing::Ending);
            Step::Over(Ok(()))
        } else {
            Role::act(&cell.process, hub);
            match catch_unwind(AssertUnwindSafe(|| body.step(FIRINGS))) {
                Ok(step) => step,
                Err(payload) => {
                    board.retire(held, cell, Some(Outcome::Panic(payload)));
                    return;
                }
            }
        };
        match step {
            Step::Idle => {
                cell.link.looked();
                match held.release() {
                    Some(again) => held = again,
                    None => return,
                }
            }
            Step::Again => match held.release() {
                // Somebody else has come meanwhile and found it held.
                Some(again) => held = again,
                None => return cell.link.poke_last(),
            },
            Step::Over(result) => return board.retire(held, cell, result.err().map(Outcome::Error)),
            Step::Misuse(complaint) => {
                hub.misuse(format!("rule \"{}\" {complaint}", cell.process.name));
                return board.retire(held, cell, None);
            }
        }
    }
}
