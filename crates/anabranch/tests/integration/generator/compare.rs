//! Compares a run of a case with the plain loop. A run may be that of a stream in this process, or of a program that has written
//! down what it saw.

use super::case::{Case, From, How, Kind};
use super::model::{Ended, Loop, plain_loop};

/// The observations of a run.
#[derive(Debug)]
pub struct Seen {
    pub delivered: Vec<u64>,
    pub ended: Ended,
    pub logs: Vec<Vec<u64>>,
    /// How many items the source gave, without items that a channel did not accept.
    pub asked: usize,
    /// Violations of the contract, during the run and after it.
    pub violations: Vec<String>,
    /// On how many threads user code ran.
    pub threads: usize,
    /// The name of its threads.
    pub title: String,
}

/// Says how a run differs from the loop.
pub fn compare(case: &Case, seen: &Seen, plain: &Loop) -> Result<(), String> {
    if let Some(what) = seen.violations.first() {
        return Err(what.clone());
    }
    if case.drains() {
        // Everything that the source has given goes on, and nothing more.
        let given = Case { items: case.items.min(seen.asked as u64), faults: Vec::new(), ..case.clone() };
        return compare_items(&given, seen, &plain_loop(&given));
    }
    compare_items(case, seen, plain)?;
    if case.is_unordered() || case.cancels() { Ok(()) } else { asked(case, seen, plain) }
}

/// The items and the end are those of the loop.
fn compare_items(case: &Case, seen: &Seen, plain: &Loop) -> Result<(), String> {
    if case.is_unordered() {
        return unordered(case, seen, plain);
    }
    ordered(case, seen, plain)?;
    if case.cancels() {
        return Ok(());
    }
    for (node, (ours, theirs)) in seen.logs.iter().zip(&plain.logs).enumerate() {
        // A serial step may have run ahead of what stopped the stream, but must have seen the right items.
        if !ours.starts_with(theirs) || (plain.is_whole && ours.len() > theirs.len()) {
            return Err(format!("node {node} saw {ours:?}\nin the loop {theirs:?}"));
        }
    }
    Ok(())
}

/// The source was asked for no more items than may be in flight behind what the loop took.
fn asked(case: &Case, seen: &Seen, plain: &Loop) -> Result<(), String> {
    // Items that a step drops do not wait for a reader that has stopped.
    let runs_on = case.drops_before_a_window() || case.has_iterator() && case.drops();
    let Some(bound) = case.bound().filter(|_| !runs_on) else { return Ok(()) };
    // The plain loop asks for one item after the other, but for blocks and for futures.
    let is_loop = case.how == How::Inline && case.from != From::Blocks && !case.is_async();
    let most = plain.asked + if is_loop { 0 } else { bound };
    if seen.asked < plain.asked || seen.asked > most {
        return Err(format!(
            "the source gave {} items, the loop's {}, bound {bound}",
            seen.asked, plain.asked
        ));
    }
    Ok(())
}

/// The output is that of the loop, in its order, and so is the end.
fn ordered(case: &Case, seen: &Seen, plain: &Loop) -> Result<(), String> {
    let holds = if case.cancels() {
        // Items in flight are dropped, but a panic of the call that has cancelled comes through. Some steps keep a panic
        // until the results before it have left.
        let comes = plain.cancelled.is_some_and(|((node, ..), panics)| panics && !case.keeps_panics(node));
        let ends = seen.ended == Ended::Complete && !comes
            || seen.ended == plain.ended
            || matches!(seen.ended, Ended::Panic(place) if case.faults.iter().any(|fault| {
                fault.kind == Kind::CancelAndPanic && (fault.node, fault.origin) == (place.0, place.1)
            }));
        ends && plain.delivered.starts_with(&seen.delivered)
    } else {
        seen.ended == plain.ended && seen.delivered == plain.delivered
    };
    if holds {
        return Ok(());
    }
    Err(format!(
        "the stream: {:?} {:?}\nthe loop: {:?} {:?}",
        seen.ended, seen.delivered, plain.ended, plain.delivered
    ))
}

/// The output is that of the loop in any order. After a failure it is a part of what the loop would have given without one.
fn unordered(case: &Case, seen: &Seen, plain: &Loop) -> Result<(), String> {
    let sorted = |items: &[u64]| {
        let mut items = items.to_vec();
        items.sort_unstable();
        items
    };
    let whole = plain_loop(&case.whole());
    let (found, all) = (sorted(&seen.delivered), sorted(&whole.delivered));
    let mut left = all.iter();
    // An item that never gets what it needs ends the loop. Items after it may then still go round.
    let is_whole = whole.ended == Ended::Complete;
    if is_whole && !found.iter().all(|item| left.any(|other| other == item)) {
        return Err(format!("the stream gave {found:?}\nof {all:?}"));
    }
    let is_planted = |kinds: &[Kind], place: (usize, u64, u64)| {
        case.faults
            .iter()
            .any(|fault| kinds.contains(&fault.kind) && (fault.node, fault.origin) == (place.0, place.1))
    };
    let holds = match seen.ended {
        Ended::Error(place) => is_planted(&[Kind::Error], place),
        // An infallible step panics in place of an error.
        Ended::Panic(place) => is_planted(&[Kind::Error, Kind::Panic, Kind::CancelAndPanic], place),
        Ended::Complete if case.cancels() || case.takes() => true,
        Ended::Complete => plain.ended == Ended::Complete && found.len() == all.len(),
        Ended::Missing => whole.ended == Ended::Missing,
        Ended::Found(_) => false,
    };
    if holds { Ok(()) } else { Err(format!("the stream ended {:?}, the loop {:?}", seen.ended, plain.ended)) }
}
