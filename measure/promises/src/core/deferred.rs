//! Items that need the results of their neighbours, compared with two plain threads that do the same work and with
//! Taskflow's deferred tokens.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::process::Command;
use std::sync::Arc;

use anabranch::Stream;

use super::{Setup, nanos};
use measure_harness::builds;
use measure_harness::rival::Rival;
use measure_harness::rounds::{Ceiling, Contender, Unmeasured, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

const GROUP: &str = "deferred";
/// The name of the rival.
const TASKFLOW: &str = "taskflow-deferred";
/// How many tokens Taskflow has under way.
const LINES: usize = 64;

pub fn rows(setup: &Setup) -> Vec<Row> {
    let work = setup.works.us_10;
    // The last item has an even number, so that the one before it has both neighbours.
    let items = work.items(setup.plain) | 1;
    let expected = plain(work, items);
    let peer = taskflow().map(RefCell::new);
    let mut contenders = vec![Contender::timed("anabranch", expected, || needing(work, items))];
    if let Ok(peer) = &peer {
        let request = format!("{TASKFLOW} {LINES} {} {items}", work.calibration().0);
        contenders.push(Contender::sampled(TASKFLOW, expected, move || peer.borrow_mut().sample(&request)));
    }
    let rounds = measure(setup.budget, Some(Ceiling { work, items }), contenders);
    let what = "every second item needs both neighbours, 10 us items, 2 workers";
    let ours = Row::new(
        GROUP,
        format!("{what}: share of the ceiling"),
        (Target::AtLeast(90.0), Unit::Percent),
        &rounds,
        |rounds| {
            let each = nanos(rounds.median(|round| round.samples[0]), items);
            (
                rounds.summary(|round| 100.0 * round.two() / round.samples[0]),
                format!("{each:.0} ns an item, the items are issued and put in order by two more stages"),
            )
        },
    );
    let missing = peer.as_ref().err().map(|why| Err(Unmeasured::NotInstalled(why.clone())));
    let beside = Row::new(
        GROUP,
        format!("{what}: Taskflow's `defer`, times ours"),
        (Target::AtLeast(1.0), Unit::Times),
        missing.as_ref().unwrap_or(&rounds),
        |rounds| {
            let other = nanos(rounds.median(|round| round.samples[1]), items);
            (
                rounds.summary(|round| round.samples[1] / round.samples[0]),
                format!("{other:.0} ns an item, {LINES} lines"),
            )
        },
    );
    let mut rows = vec![ours, beside];
    rows.extend(waiting(setup));
    rows
}

/// Builds and starts the rival with Taskflow.
fn taskflow() -> Result<Rival, String> {
    let missing =
        "Taskflow 3 is not installed: TASKFLOW=DIR names its sources, and version 4 has no deferred tokens";
    let sources = std::env::var_os("TASKFLOW").ok_or(missing)?;
    let options = ["-std=c++20", "-O3", "-DNDEBUG", "-pthread", "-I"].map(OsStr::new);
    let options = [&options[..], &[&sources]].concat();
    let program = builds::folder().join("rivals-taskflow");
    let source = builds::source("rivals/promises/deferred.cpp");
    builds::compiled(&builds::compiler(), &options, &source, &[], &program)
        .map_err(|why| format!("{missing} ({why})"))?;
    Rival::start(Command::new(program))
}

/// How many items wait for the last one.
const WAITING_ITEMS: u64 = 16_000;

/// Items without work that wait for one that comes last: each needs the one before it, and the first needs the last.
fn waiting(setup: &Setup) -> Vec<Row> {
    let expected = (0..=WAITING_ITEMS).fold(Digest::EMPTY, Digest::with);
    let chain = || {
        let needs = |number: u64, _: &u64| match number {
            WAITING_ITEMS => None,
            0 => Some(WAITING_ITEMS),
            _ => Some(number - 1),
        };
        Stream::from_range(0..WAITING_ITEMS + 1)
            .workers(2)
            .map_dependent(WAITING_ITEMS as usize, needs, |item, _| item)
            .fold(Digest::EMPTY, |digest, result| digest.with(*result))
            .expect("each item has what it needs")
    };
    let rounds = measure(setup.budget, None, vec![Contender::timed("anabranch", expected, chain)]);
    let what = "16,000 items without work that wait for one that is far behind them, 2 workers";
    vec![Row::new(GROUP, what, (Target::AtMost(100.0), Unit::Milliseconds), &rounds, |rounds| {
        (
            rounds.summary(|round| 1e3 * round.samples[0]),
            "each needs the one before it, and the first needs the last".to_owned(),
        )
    })]
}

/// The result of an item with an odd number, from its number and from the results of its neighbours.
fn mixed(item: u64, before: u64, behind: u64) -> u64 {
    item ^ before ^ behind.rotate_left(1)
}

fn plain(work: Work, items: u64) -> Digest {
    let even = |item: u64| work.run(item);
    let of = |item: u64| match item % 2 {
        0 => even(item),
        _ => work.run(mixed(item, even(item - 1), even(item + 1))),
    };
    (0..items).map(of).fold(Digest::EMPTY, Digest::with)
}

fn needing(work: Work, items: u64) -> Digest {
    let neighbours = |number: u64, _: &u64| match number % 2 {
        0 => vec![],
        _ => vec![number - 1, number + 1],
    };
    let f = move |item: u64, needed: &[Arc<u64>]| match needed {
        [before, behind] => work.run(mixed(item, **before, **behind)),
        _ => work.run(item),
    };
    Stream::from_iter(0..items)
        .workers(2)
        .map_dependent(2, neighbours, f)
        .fold(Digest::EMPTY, |digest, result| digest.with(*result))
        .expect("each item has what it needs")
}
