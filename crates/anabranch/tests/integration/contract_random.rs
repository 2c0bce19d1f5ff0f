//! Random pipelines keep the contract. Whatever the shape, the settings, the failures and the delays are,
//! threads give what the plain loop gives.
//!
//! `PROPTEST_RNG_SEED=$RANDOM PROPTEST_CASES=10000 cargo test -p anabranch --test integration contract_random` runs more and
//! other cases.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::contract_support::case::{Case, Chain, Delay, End, Fault, Kind, Segment, Serial, cases};
use crate::contract_support::check::{hold_in_time, hold_pooled_in_time};
use crate::contract_support::random;
use crate::contract_support::world::SINK;
use proptest::prelude::*;

fn for_all(usual: u32, strategy: impl Strategy<Value = Case>) {
    for_all_that(usual, strategy, hold_in_time);
}

fn for_all_that(
    usual: u32,
    strategy: impl Strategy<Value = Case>,
    holds: impl Fn(&Case) -> Result<(), String>,
) {
    let hung = AtomicBool::new(false);
    random::for_all(random::config(usual), strategy, |case| {
        // After a hang no smaller case is searched, because each attempt may take a minute.
        if hung.load(Ordering::Relaxed) {
            return Ok(());
        }
        holds(&case).map_err(|what| {
            hung.store(what.starts_with("hangs"), Ordering::Relaxed);
            TestCaseError::fail(what)
        })
    });
}

#[test]
fn random_pipelines_give_what_the_loop_gives() {
    for_all(400, cases());
}

#[test]
fn random_pipelines_of_two_workers_and_narrow_windows_do_too() {
    let narrow = (cases(), 2..4usize, 1..4usize);
    for_all(300, narrow.prop_map(|(case, workers, window)| Case { workers, window, ..case }));
}

#[test]
fn random_pipelines_without_faults_deliver_everything() {
    for_all(200, cases().prop_map(|case| Case { faults: Vec::new(), ..case }));
}

#[test]
fn random_pipelines_whose_source_never_waits_give_what_the_loop_gives() {
    let long = (cases(), 0..2_500u64, 200..5_000usize);
    let in_blocks =
        long.prop_map(|(case, items, window)| Case { items, window, in_blocks: true, ..case }.buildable());
    for_all(150, in_blocks);
}

#[test]
fn random_pipelines_that_a_pool_runs_alone_give_what_the_loop_gives() {
    for threads in 1..=3 {
        let pooled =
            |case: Case| Case { tail: Chain::Direct, end: End::Iter, in_blocks: false, ..case }.buildable();
        for_all_that(100, cases().prop_map(pooled), |case| hold_pooled_in_time(case, threads));
    }
}

#[test]
fn serial_neighbours_keep_their_order_and_their_failures() {
    let neighbours = cases().prop_map(|mut case| {
        case.segments.iter_mut().skip(1).for_each(|segment| segment.chain = Chain::Direct);
        case.buildable()
    });
    for_all(200, neighbours);
}

#[test]
fn racing_failures_leave_the_one_that_the_loop_would_have_met() {
    let kind = || prop_oneof![Just(Kind::Error), Just(Kind::Panic)];
    let faults = prop::collection::vec((0..40u64, kind(), any::<prop::sample::Index>()), 4..20);
    let racing = (cases(), faults).prop_map(|(case, faults)| {
        let nodes = case.nodes();
        let plant = |(origin, kind, node): (u64, Kind, prop::sample::Index)| Fault {
            node: nodes[node.index(nodes.len())],
            origin,
            child: None,
            kind,
        };
        Case { faults: faults.into_iter().map(plant).collect(), ..case }
    });
    for_all(200, racing);
}

fn segments(list: &[(Chain, Serial)]) -> Vec<Segment> {
    list.iter().map(|&(chain, serial)| Segment { chain, serial }).collect()
}

/// Shapes that have broken other implementations, each with any settings.
fn shapes() -> Vec<(&'static str, Vec<Segment>, Chain)> {
    use Chain::*;
    use Serial::*;
    vec![
        ("nothing at all", segments(&[]), Direct),
        ("one parallel stage", segments(&[]), Map),
        ("one serial stage", segments(&[(Direct, Each)]), Direct),
        ("serial neighbours", segments(&[(Direct, Each), (Direct, Try), (Direct, Option)]), Direct),
        ("serial neighbours, then parallel", segments(&[(Direct, Each), (Direct, Each)]), Map),
        ("parallel, serial, parallel", segments(&[(Map, Each)]), TryMap),
        ("three hops", segments(&[(MapWith, Each), (TryMap, Try)]), TryMapWith),
        ("flat, serial, parallel", segments(&[(FlatMap, Each)]), Map),
        ("flat, serial, flat", segments(&[(FlatTry, Try)]), FlatMap),
        ("a batch that ends in a hop", segments(&[(Map, Batch(3))]), Map),
        (
            "batches in the window of a feedback",
            segments(&[(Direct, Batch(5)), (Direct, Feedback)]),
            TryMapWith,
        ),
        ("batches of batches", segments(&[(Direct, Batch(2)), (Map, Batch(3))]), Direct),
        ("a take before a batch", segments(&[(Map, Take(7)), (Map, Batch(4))]), Map),
        ("a take inside a batch of children", segments(&[(FlatMap, Take(5)), (Map, Each)]), Direct),
        ("two takes", segments(&[(Map, Take(9)), (Map, Take(5))]), Map),
        ("a take of nothing", segments(&[(Map, Take(0))]), Map),
        ("a batch before a take", segments(&[(Map, Batch(2)), (Map, Take(3)), (Map, Batch(2))]), Map),
        (
            "an end by another's end",
            segments(&[(Map, Zip(11)), (FilterMap, Each), (Direct, Enumerate)]),
            Direct,
        ),
        (
            "state from item to item",
            segments(&[(Filter, Each), (Map, Scan(30)), (FlatMap, Enumerate)]),
            TryMapWith,
        ),
        ("much is dropped", segments(&[(Filter, Each), (Map, Option), (FilterMap, Try)]), FlatMap),
    ]
}

#[test]
fn each_hard_shape_keeps_the_contract() {
    let strategy = (any::<prop::sample::Index>(), cases()).prop_map(|(shape, case)| {
        let mut shapes = shapes();
        let (_, segments, tail) = shapes.swap_remove(shape.index(shapes.len()));
        Case { segments, tail, ..case }.buildable()
    });
    for_all(500, strategy);
}

#[test]
fn a_failure_at_each_node_in_turn_is_the_one_that_comes_back() {
    crate::contract_support::watchdog::within(|| {
        for (name, segments, tail) in shapes() {
            let case = Case {
                items: 24,
                workers: 3,
                window: 4,
                burst: None,
                in_blocks: false,
                segments,
                tail,
                end: End::TryForEach,
                faults: Vec::new(),
                delay: Delay::None,
            };
            for node in case.nodes() {
                for kind in [Kind::Error, Kind::Panic] {
                    // The second fault may come earlier or later in time; the first one in order must win.
                    for origins in [[5, 6], [0, 1], [23, 3], [1, 22]] {
                        let fault = |origin, node| Fault { node, origin, child: None, kind };
                        let faults = vec![fault(origins[0], node), fault(origins[1], SINK)];
                        let case = Case { faults, ..case.clone() };
                        crate::contract_support::check::hold(&case)
                            .unwrap_or_else(|what| panic!("{name}: {what}\n{case:#?}"));
                    }
                }
            }
        }
    });
}
