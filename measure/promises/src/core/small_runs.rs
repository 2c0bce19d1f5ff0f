//! Runs of 8 items, one after another on one pool: the cost of beginning and ending a run.

use anabranch::{Pool, Stream};

use super::Setup;
use measure_harness::rounds::{Ceiling, Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Running, Work};

const GROUP: &str = "small-runs";
const ITEMS: u64 = 8;

pub fn rows(setup: &Setup) -> Vec<Row> {
    let pool = Pool::new(2);
    vec![bare(setup, &pool), long_items(setup, &pool)]
}

fn bare(setup: &Setup, pool: &Pool) -> Row {
    let runs = if setup.quick { 4_000 } else { 8_000 };
    let expected = all(runs, |run| three_stages_plain(run * ITEMS));
    let pooled = Contender::timed("pool of 2", expected, || all(runs, |run| three_stages(run * ITEMS, pool)));
    let rounds = measure(setup.budget, Some(setup.probe()), vec![pooled]);
    let what = "run of 8 items through parallel, serial, parallel and a fold, pool of 2, grain 0";
    Row::new(GROUP, what, (Target::AtMost(3.0), Unit::Microseconds), &rounds, |rounds| {
        (rounds.summary(|round| 1e6 * round.samples[0] / runs as f64), format!("{runs} runs a round"))
    })
}

fn long_items(setup: &Setup, pool: &Pool) -> Row {
    let work = setup.works.us_100;
    let runs = work.items(setup.plain) / ITEMS;
    let ceiling = Ceiling { work, items: runs * ITEMS };
    let expected = all(runs, |run| work.fold(run * ITEMS..(run + 1) * ITEMS));
    let pooled =
        Contender::timed("pool of 2", expected, || all(runs, |run| one_stage(work, run * ITEMS, pool)));
    let rounds = measure(setup.budget, Some(ceiling), vec![pooled]);
    let what = "run of 8 items of 100 us, pool of 2: times half of the plain loop";
    Row::new(GROUP, what, (Target::AtMost(1.15), Unit::Times), &rounds, |rounds| {
        let micros = 1e6 * rounds.median(|round| round.samples[0]) / runs as f64;
        let plain = 1e6 * rounds.median(|round| round.one()) / runs as f64;
        (
            rounds.summary(|round| 2.0 * round.samples[0] / round.one()),
            format!("{micros:.0} us a run, the plain loop {plain:.0}"),
        )
    })
}

/// Runs one run after another. The digest is made of their digests.
fn all(runs: u64, run: impl Fn(u64) -> Digest) -> Digest {
    (0..runs).map(run).fold(Digest::EMPTY, |digest, of_run| digest.then(of_run, ITEMS))
}

fn three_stages_plain(first: u64) -> Digest {
    let mut running = Running::default();
    (first..first + ITEMS)
        .map(|item| item ^ 5)
        .map(|item| running.next(item))
        .map(|item| item ^ 9)
        .fold(Digest::EMPTY, Digest::with)
}

fn three_stages(first: u64, pool: &Pool) -> Digest {
    let mut running = Running::default();
    Stream::from_iter(first..first + ITEMS)
        .pool(pool)
        .map(|item| item ^ 5)
        .serial_map(|item| running.next(item))
        .map(|item| item ^ 9)
        .fold(Digest::EMPTY, Digest::with)
}

fn one_stage(work: Work, first: u64, pool: &Pool) -> Digest {
    Stream::from_iter(first..first + ITEMS)
        .pool(pool)
        .map(|item| work.run(item))
        .fold(Digest::EMPTY, Digest::with)
}
