//! Random streams keep the contract. Each step may stand behind each other one, in branches and in loops too, and whatever
//! the steps, the settings, the failures and the delays are, each way to run gives what the plain loop gives.
//!
//! A gated source waits before each item until the sink has what the loop would have delivered by then (C10).
//!
//! `PROPTEST_RNG_SEED=$RANDOM PROPTEST_CASES=10000 cargo test -p anabranch --test integration generator::` runs more and other
//! cases.

mod annotated;
pub mod case;
mod compare;
mod keys;
mod methods;
mod model;
mod program;
mod stream;
mod world;

use std::cell::Cell;

use proptest::prelude::*;

use crate::contract_support::watchdog::{self, finishes_within, within};
use crate::contract_support::{process, random};
use case::{Case, Delay, End, Fault, From, How, Kind, Need, SINK, Step, Way, cases, faults};
use compare::{Seen, compare};
use model::plain_loop;
use stream::run;

/// Runs a case as a loop and as a stream, and says how they differ.
fn hold(case: &Case) -> Result<(), String> {
    watchdog::hush();
    let plain = plain_loop(case);
    let seen = run(case, &plain);
    threads(case, &seen)?;
    compare(case, &seen, &plain)
}

/// No more threads run than were asked for, and none of them outlives the call.
fn threads(case: &Case, seen: &Seen) -> Result<(), String> {
    let is_own = matches!(case.how, How::Inline | How::Threads(_) | How::WithIter(_));
    let is_plain = matches!(case.from, From::Iter | From::Fn | From::Blocks) && case.settings.is_empty();
    if !is_own || !is_plain {
        return Ok(());
    }
    // An iterator is taken on a thread that is no worker.
    let most = case.threads() + usize::from(case.has_iterator());
    if seen.threads > most {
        return Err(format!("{} threads ran in place of {most}", seen.threads));
    }
    // The system may need a moment until a thread that has ended is gone.
    let gone = || process::threads_named(&format!("{}-", seen.title)) == 0;
    if watchdog::comes_true(watchdog::LIMIT / 2, gone) {
        Ok(())
    } else {
        Err("threads outlive the call".into())
    }
}

/// Like [`hold`]. A hang is an error too.
pub fn hold_in_time(case: &Case) -> Result<(), String> {
    let ours = case.clone();
    finishes_within(watchdog::LIMIT, move || hold(&ours))
        .unwrap_or_else(|| Err(format!("hangs: not finished after {:?}", watchdog::LIMIT)))
}

fn for_all(usual: u32, strategy: impl Strategy<Value = Case>) {
    let hung = Cell::new(false);
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

/// This may take longer than 10 s: fewer cases reach too few pairs of steps.
#[test]
fn random_streams_give_what_the_loop_gives() {
    for_all(1_200, cases());
}

#[test]
fn random_streams_of_two_workers_and_narrow_windows_do_too() {
    let narrow = (cases(), 2..4usize, 1..4usize);
    for_all(
        400,
        narrow.prop_map(|(case, workers, window)| {
            Case { how: How::Threads(workers), window, ..case }.buildable()
        }),
    );
}

/// This may take longer than 10 s, because each item waits for the results of those before it.
#[test]
fn random_streams_without_faults_are_prompt() {
    for_all(600, cases().prop_map(|case| Case { faults: Vec::new(), is_gated: true, ..case }.buildable()));
}

#[test]
fn random_streams_whose_source_never_waits_give_what_the_loop_gives() {
    let long = (cases(), 0..2_500u64, 200..5_000usize);
    let in_blocks =
        long.prop_map(|(case, items, window)| Case { items, window, from: From::Blocks, ..case }.buildable());
    for_all(200, in_blocks);
}

#[test]
fn random_streams_that_a_pool_runs_alone_give_what_the_loop_gives() {
    let pooled = (cases(), 1..4usize);
    for_all(300, pooled.prop_map(|(case, threads)| Case { how: How::Detached(threads), ..case }.buildable()));
}

#[test]
fn random_streams_that_are_drained_give_what_their_source_has_given() {
    let drained = (cases(), 0..100u64, 1000..2000usize);
    for_all(
        200,
        drained.prop_map(|(case, origin, node)| {
            let faults = vec![Fault { node, origin, child: None, kind: Kind::Drain }];
            Case { faults, ..case }.buildable()
        }),
    );
}

#[test]
fn random_streams_without_order_give_each_item_once() {
    let anywhere = (cases(), any::<prop::sample::Index>());
    for_all(
        400,
        anywhere.prop_map(|(mut case, at)| {
            case.steps.insert(at.index(case.steps.len() + 1), Step::Unordered);
            case.buildable()
        }),
    );
}

/// This may take longer than 10 s, because each item waits for the results of those before it.
#[test]
fn random_loops_with_items_inside_let_them_out_before_the_source_is_asked() {
    let behind = (cases(), any::<prop::sample::Index>(), case::feedback());
    for_all(
        200,
        behind.prop_map(|(mut case, at, feedback)| {
            case.steps.insert(at.index(case.steps.len() + 1), feedback);
            Case { faults: Vec::new(), is_gated: true, ..case }.buildable()
        }),
    );
}

#[test]
fn racing_failures_leave_the_one_that_the_loop_would_have_met() {
    let racing = (cases(), faults(4..20)).prop_map(|(case, mut faults)| {
        faults.retain(|fault| matches!(fault.kind, Kind::Error | Kind::Panic));
        Case { faults, ..case }.buildable()
    });
    for_all(300, racing);
}

/// Shapes that have broken other implementations, each with any settings.
fn shapes() -> Vec<(&'static str, Vec<Step>)> {
    use Step::*;
    vec![
        ("nothing at all", vec![]),
        ("one parallel step", vec![Map]),
        ("one serial step", vec![Each]),
        ("serial neighbours", vec![Each, TryEach, Option]),
        ("serial neighbours, then parallel", vec![Each, Each, Map]),
        ("parallel, serial, parallel", vec![Map, Each, Try]),
        ("three hops", vec![With, Each, Try, TryEach, TryWith]),
        ("flat, serial, parallel", vec![Flat, Each, Map]),
        ("flat, serial, flat", vec![Flat, Try, TryEach, Flat]),
        ("a chunk that ends in a hop", vec![Map, Chunks(3), Map]),
        (
            "chunks in the window of a loop",
            vec![Chunks(5), Feedback { flat: false, first: 0, places: 1, stages: vec![Try] }, TryWith],
        ),
        ("chunks of chunks", vec![Chunks(2), Map, Chunks(3)]),
        ("a take before a chunk", vec![Map, Take(7), Map, Chunks(4)]),
        ("a take inside of children", vec![Flat, Take(5), Map, Each]),
        ("two takes", vec![Map, Take(9), Map, Take(5)]),
        ("a take of nothing", vec![Map, Take(0)]),
        ("a chunk before a take", vec![Map, Chunks(2), Map, Take(3), Map, Chunks(2)]),
        ("an end by another's end", vec![Map, Zip(11), FilterMap, Each, Enumerate]),
        ("state from item to item", vec![Filter, Each, Map, Scan(30), Flat, Enumerate, TryWith]),
        ("much is dropped", vec![Filter, Each, Map, Option, FilterMap, TryEach, Flat]),
        ("a take in a branch", vec![Fork(Way::Zip, vec![vec![Take(7), Each], vec![Map]]), Chunks(4)]),
    ]
}

/// This may take longer than 10 s: each shape needs about ten cases to meet the settings that were hard for it.
#[test]
fn each_hard_shape_keeps_the_contract() {
    let strategy = (any::<prop::sample::Index>(), cases()).prop_map(|(shape, case)| {
        let mut shapes = shapes();
        let (_, steps) = shapes.swap_remove(shape.index(shapes.len()));
        Case { steps, ..case }.buildable()
    });
    for_all(200, strategy);
}

#[test]
fn a_failure_at_each_node_in_turn_is_the_one_that_comes_back() {
    within(|| {
        for (name, steps) in shapes() {
            let case = Case { window: 4, ..Case::of(steps, 24, How::Threads(3)) };
            for node in case.nodes() {
                for kind in [Kind::Error, Kind::Panic] {
                    // The second fault may come earlier or later in time; the first one in order must win.
                    for origins in [[5, 6], [0, 1], [23, 3], [1, 22]] {
                        let fault = |origin, node| Fault { node, origin, child: None, kind };
                        let faults = vec![fault(origins[0], node), fault(origins[1], SINK)];
                        let case = Case { faults, ..case.clone() };
                        hold(&case).unwrap_or_else(|what| panic!("{name}: {what}\n{case:#?}"));
                    }
                }
            }
        }
    });
}

/// The shapes that were found to hang or to lose items.
#[test]
fn a_failure_before_the_order_is_given_up_ends_the_stream() {
    use Step::*;
    for how in [How::Threads(2), How::Pool(2), How::IntoIter(2), How::Threads(1), How::Inline] {
        for steps in [
            vec![Try, Unordered, Map],
            vec![Try, NewError, Unordered, Map],
            vec![Try, Through, Unordered, Each],
            vec![Try, Map, Unordered, Map, Map],
        ] {
            for kind in [Kind::Error, Kind::Panic] {
                let faults = vec![Fault { node: 1, origin: 6, child: None, kind }];
                let case = Case { faults, end: End::ForEach, ..Case::of(steps.clone(), 10, how) };
                hold_in_time(&case).unwrap_or_else(|what| panic!("{case:?}\n{what}"));
            }
        }
    }
}

/// Items that need others keep them in order, whatever the delays are.
#[test]
fn each_kind_of_need_is_met_in_order() {
    for need in [Need::Chain, Need::Star, Need::Far(1), Need::Far(5)] {
        for workers in 1..4 {
            let delay = Delay::Now { one_in: 3, micros: 50 };
            let case =
                Case { delay, ..Case::of(vec![Step::Needing(need), Step::Each], 60, How::Threads(workers)) };
            hold_in_time(&case).unwrap_or_else(|what| panic!("{case:?}\n{what}"));
        }
    }
}
