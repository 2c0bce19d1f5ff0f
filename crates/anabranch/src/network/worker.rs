//! Workers: threads that fire the rules of a network.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{
    awake::Call,
    board::{Board, Member, Outcome},
    queue::{Badge, RuleLink, enqueue, share, take},
    records::Closing,
    role::Role,
    rule::Step,
};
use anabranch_record::mutant::Mutant;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_TURN_AFTER_THE_FIRST: Mutant = Mutant("no_turn_after_the_first");

/// How many times a rule fires before another rule gets its turn.
pub(super) const FIRINGS: usize = 64;
/// Works on the thread that called `run`, until every process has ended. Calls `call_helpers` when there are
/// more rules than before. `number` is the number of the worker that this thread is, if workers have numbers.
pub(super) fn lead<E: Send>(board: &Board<'_, E>, number: Option<usize>, call_helpers: impl Fn()) {
    let hub = &*board.hub;
    let _badge = Badge::new(hub, number);
    if hub.is_alone() {
        return lead_alone(board);
    }
    let mut turn = 0u32;
    loop {
        while let Some(rule) = take(hub, turn) {
            if hub.has_new_rules() {
                call_helpers();
            }
            turn = turn.wrapping_add(1);
            fire(board, rule);
            share(hub);
        }
        if let Some(rule) = hub.poll() {
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
            if let Some(mut held) = cell.baton.try_acquire() {
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
    let mut turn = 0u32;
    loop {
        while let Some(rule) = take(hub, turn) {
            turn = turn.wrapping_add(1);
            fire(board, rule);
            share(hub);
        }
        if let Some(rule) = hub.poll() {
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
    let Some(mut held) = cell.baton.try_acquire() else { return };
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
            None if again && !NO_TURN_AFTER_THE_FIRST.is_on() => return cell.link.poke_last(),
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
        member.process.notice_own(Closing::Ending);
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
