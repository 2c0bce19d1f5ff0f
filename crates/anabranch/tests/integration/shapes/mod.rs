//! Random shapes keep the contract. Each stage may stand behind each other one: boxes at any place, an order that is given
//! up at any place, loops with items inside behind every stage that opens a domain, items that need far items. Each may
//! fail, panic or cancel at any item, and one worker, the inline executor, threads, pools and iterators run them.
//!
//! The source waits before each item until the sink has what the loop would have delivered by then (C10).
//!
//! `PROPTEST_RNG_SEED=$RANDOM PROPTEST_CASES=10000 cargo test -p anabranch --test integration shapes::` runs more and other
//! cases.

mod case;
mod model;
mod stream;

use case::{Case, End, Fault, How, Kind, Step, cases};
use model::{Ended, Loop, plain_loop};
use proptest::prelude::*;
use stream::{Seen, run};

use crate::contract_support::random;
use crate::contract_support::watchdog::{self, finishes_within};

/// Runs a case as a loop and as a stream, and says how they differ.
fn hold(case: &Case) -> Result<(), String> {
    watchdog::hush();
    let plain = plain_loop(case);
    let seen = run(case, &plain);
    if let Some(what) = seen.violations.first() {
        return Err(what.clone());
    }
    if case.is_unordered() { unordered(case, &seen, &plain) } else { ordered(case, &seen, &plain) }
}

/// The output is that of the loop, in its order, and so is the end.
fn ordered(case: &Case, seen: &Seen, plain: &Loop) -> Result<(), String> {
    let holds = match plain.cancelled {
        // What is in flight is dropped, but a panic of the call that has cancelled comes through.
        _ if case.cancels() => {
            let panic =
                |(node, origin, panics)| if panics { Ended::Panic(node, origin) } else { Ended::Complete };
            // Such a stage keeps a panic until the results before it have left.
            let keeps =
                |node: usize| case.steps.get(node.wrapping_sub(1)).is_some_and(|step| step.keeps_panics());
            let comes = plain.cancelled.is_some_and(|(node, _, panics)| panics && !keeps(node));
            let ends = seen.ended == Ended::Complete && !comes
                || seen.ended == plain.ended
                || case
                    .faults
                    .iter()
                    .any(|fault| seen.ended == panic((fault.node, fault.origin, fault.panics())));
            ends && plain.delivered.starts_with(&seen.delivered)
        }
        _ => seen.ended == plain.ended && seen.delivered == plain.delivered,
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
    let whole = plain_loop(&Case { faults: Vec::new(), steps: case.without_takes(), ..case.clone() });
    let (found, all) = (sorted(&seen.delivered), sorted(&whole.delivered));
    let mut left = all.iter();
    // An item that never gets what it needs ends the loop. What is behind it then may still go round.
    let is_whole = whole.ended == Ended::Complete;
    if is_whole && !found.iter().all(|item| left.any(|other| other == item)) {
        return Err(format!("the stream gave {found:?}\nof {all:?}"));
    }
    let takes = case.steps.iter().any(|step| matches!(step, Step::Take(_)));
    let is_planted = |kinds: &[Kind], node: usize, origin: u64| {
        case.faults
            .iter()
            .any(|fault| kinds.contains(&fault.kind) && (fault.node, fault.origin) == (node, origin))
    };
    let cancels = case.cancels();
    let holds = match seen.ended {
        Ended::Error(node, origin) => is_planted(&[Kind::Error], node, origin),
        // An infallible stage panics in place of an error.
        Ended::Panic(node, origin) => {
            is_planted(&[Kind::Error, Kind::Panic, Kind::CancelAndPanic], node, origin)
        }
        Ended::Complete if cancels || takes => true,
        Ended::Complete => plain.ended == Ended::Complete && found.len() == all.len(),
        Ended::Missing => whole.ended == Ended::Missing,
    };
    if holds { Ok(()) } else { Err(format!("the stream ended {:?}, the loop {:?}", seen.ended, plain.ended)) }
}

fn hold_in_time(case: &Case) -> Result<(), String> {
    let ours = case.clone();
    finishes_within(watchdog::LIMIT, move || hold(&ours))
        .unwrap_or_else(|| Err(format!("hangs: not finished after {:?}", watchdog::LIMIT)))
}

fn for_all(usual: u32, strategy: impl Strategy<Value = Case>) {
    let hung = std::cell::Cell::new(false);
    random::for_all(random::config(usual), strategy, |case| {
        // After a hang no smaller case is searched, because each attempt may take a minute.
        if hung.get() {
            return Ok(());
        }
        hold_in_time(&case).map_err(|what| {
            hung.set(what.starts_with("hangs"));
            TestCaseError::fail(what)
        })
    });
}

#[test]
fn random_shapes_give_what_the_loop_gives() {
    for_all(600, cases());
}

#[test]
fn random_shapes_without_faults_are_prompt() {
    for_all(400, cases().prop_map(|case| Case { faults: Vec::new(), is_gated: true, ..case }.buildable()));
}

#[test]
fn random_shapes_without_order_give_each_item_once() {
    let anywhere = (cases(), any::<prop::sample::Index>(), any::<bool>());
    for_all(
        400,
        anywhere.prop_map(|(mut case, at, at_a_stage)| {
            let step = if at_a_stage { Step::EachUnordered } else { Step::Unordered };
            case.steps.insert(at.index(case.steps.len() + 1), step);
            case.buildable()
        }),
    );
}

#[test]
fn random_loops_with_items_inside_let_them_out_before_the_source_is_asked() {
    let behind = (cases(), any::<prop::sample::Index>(), 1..9usize, 0..9u64);
    for_all(
        400,
        behind.prop_map(|(mut case, at, places, first)| {
            case.steps.insert(at.index(case.steps.len() + 1), Step::Feedback { places, first, flat: false });
            Case { faults: Vec::new(), is_gated: true, ..case }.buildable()
        }),
    );
}

/// The shapes that were found to hang or to lose items.
#[test]
fn a_failure_before_a_box_ends_a_stream_without_order() {
    for how in [How::Threads(2), How::Pool(2), How::IntoIter(2), How::Threads(1), How::Inline] {
        for steps in [
            vec![Step::Try, Step::Unordered, Step::Map],
            vec![Step::Try, Step::NewError, Step::Unordered, Step::Map],
            vec![Step::Try, Step::Through, Step::EachUnordered],
            vec![Step::Try, Step::Map, Step::Unordered, Step::Map, Step::Map],
        ] {
            for kind in [Kind::Error, Kind::Panic] {
                let faults = vec![Fault { node: 1, origin: 6, kind }];
                let case = Case { faults, ..Case::of(steps.clone(), 10, how, End::ForEach) };
                hold_in_time(&case).unwrap_or_else(|what| panic!("{case:?}\n{what}"));
            }
        }
    }
}
