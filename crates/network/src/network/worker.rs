//! Workers: threads that fire the rules of a network.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch::host::Kept;

use super::{
    awake::Call,
    contents::{Contents, Member, Outcome},
    queue::{RuleLink, WorkerGuard, enqueue, share, take},
    records::Closing,
    role::Role,
    rule::Step,
};
use anabranch_record::mutant::Mutant;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_TURN_AFTER_THE_FIRST: Mutant = Mutant("no_turn_after_the_first");

/// Works on the thread that called `run`, until every process has ended. Calls `call_helpers` when there are
/// more rules than before. `number` is the number of the worker that this thread is, if workers have numbers.
pub(super) fn lead<E: Send>(contents: &Contents<'_, E>, number: Option<usize>, call_helpers: impl Fn()) {
    let network = &*contents.network;
    let _guard = WorkerGuard::new(network, number);
    if network.is_alone() {
        return lead_alone(contents);
    }
    let mut turn = 0u32;
    loop {
        while let Some(rule) = take(network, turn) {
            if network.has_new_rules() {
                call_helpers();
            }
            turn = turn.wrapping_add(1);
            fire(contents, rule);
            share(network);
        }
        if let Some(rule) = network.poll() {
            fire(contents, rule);
            continue;
        }
        let call = network.wait_as_caller();
        if network.has_new_rules() {
            call_helpers();
        }
        match call {
            Call::Rule(rule) => fire(contents, rule),
            Call::Look => {}
            Call::Sweep => contents.close_all(),
            Call::Still => {
                if network.live() == 0 {
                    return network.dismiss();
                }
                contents.stands_still();
                network.rouse();
            }
        }
    }
}

/// Works as the only thread of the network, which has rules alone. So there are no other threads to wake, and no
/// process that creates rules.
fn lead_alone<'env, E: Send>(contents: &Contents<'env, E>) {
    let network = &*contents.network;
    let mut cells: Vec<(&RuleLink, Vec<Member<'env, E>>)> =
        contents.rules.iter().map(|(_, cell)| (&*cell.link, Vec::new())).collect();
    // The rules are taken out of their batons, which no other thread wants.
    let exchange = |cells: &mut Vec<(&RuleLink, Vec<Member<'env, E>>)>| {
        for ((_, cell), (_, members)) in contents.rules.iter().zip(cells) {
            if let Some(mut held) = cell.baton.try_acquire() {
                std::mem::swap(held.state(), members);
                held.let_go();
            }
        }
    };
    exchange(&mut cells);
    let mut turn = 0u32;
    loop {
        while let Some(rule) = take(network, turn) {
            turn = turn.wrapping_add(1);
            if let Some((link, members)) = cells.get_mut(rule) {
                link.dequeued();
                if look_at(contents, members, true) == Look::Again {
                    link.poke_last();
                }
            }
        }
        match network.wait_as_caller() {
            Call::Rule(rule) => enqueue(network, rule),
            Call::Look => {}
            Call::Sweep => contents.close_all(),
            Call::Still => {
                if network.live() == 0 {
                    return network.dismiss();
                }
                exchange(&mut cells);
                contents.stands_still();
                exchange(&mut cells);
                network.rouse();
            }
        }
    }
}

/// Works on another thread, until the network has ended. A thread of a pool has no number.
pub(super) fn help<E: Send>(contents: &Contents<'_, E>, number: Option<usize>) {
    let network = &*contents.network;
    let _guard = WorkerGuard::new(network, number);
    let mut turn = 0u32;
    loop {
        while let Some(rule) = take(network, turn) {
            turn = turn.wrapping_add(1);
            fire(contents, rule);
            share(network);
        }
        if let Some(rule) = network.poll() {
            fire(contents, rule);
            continue;
        }
        match network.wait_as_helper() {
            Some(rule) => fire(contents, rule),
            None => return,
        }
    }
}

/// Gives a rule its turn.
fn fire<E: Send>(contents: &Contents<'_, E>, rule: usize) {
    let Some(cell) = contents.rules.get(rule) else { return };
    cell.link.dequeued();
    let Some(mut held) = cell.baton.try_acquire() else { return };
    loop {
        let look = look_at(contents, held.state(), false);
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
fn look_at<'env, E: Send>(
    contents: &Contents<'env, E>,
    members: &mut [Member<'env, E>],
    is_alone: bool,
) -> Look {
    let mut look = Look::Over;
    for member in members {
        match step(contents, member, is_alone) {
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
fn step<'env, E: Send>(
    contents: &Contents<'env, E>,
    member: &mut Member<'env, E>,
    is_alone: bool,
) -> Option<bool> {
    let network = &*contents.network;
    let body = member.body.as_mut()?;
    let step = if network.is_ending() {
        member.process.notice_own(Closing::Ending);
        Step::Over(Ok(()))
    } else {
        Role::act(member.index, network);
        match catch_unwind(AssertUnwindSafe(|| body.step(member.firings, (!is_alone).then_some(network)))) {
            Ok(step) => step,
            Err(payload) => {
                contents.retire(member, Some(Outcome::Panic(Kept::new(payload))));
                return None;
            }
        }
    };
    match step {
        Step::Idle => Some(true),
        Step::Again => Some(false),
        Step::Over(result) => {
            contents.retire(member, result.err().map(|error| Outcome::Error(Kept::new(error))));
            None
        }
        Step::Misuse(complaint) => {
            network.misuse(format!("rule \"{}\" {complaint}", member.process.name));
            contents.retire(member, None);
            None
        }
    }
}
