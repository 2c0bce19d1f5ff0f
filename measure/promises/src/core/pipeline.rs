//! A source, one parallel stage and an ordered fold, with 2, 3 and 4 workers, at each grain.

use anabranch::Stream;

use super::{Setup, nanos};
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::{Row, mark_best};
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

const GROUP: &str = "pipeline";
const WORKERS: [usize; 3] = [2, 3, 4];

pub fn rows(setup: &Setup) -> Vec<Row> {
    let works = &setup.works;
    let mut rows = bare(setup);
    rows.push(unordered(setup));
    let (least, none) = (Target::AtLeast, Target::None);
    // The targets of each number of workers.
    for (grain, work, targets) in [
        ("55 ns", works.ns_55, [least(65.0), none, none]),
        ("100 ns", works.ns_100, [least(78.0), none, least(78.0)]),
        ("1 us", works.us_1, [least(96.0), least(94.0), least(94.0)]),
        ("10 us", works.us_10, [least(98.0), least(97.0), least(97.0)]),
        ("100 us", works.us_100, [none; 3]),
    ] {
        rows.extend(shares(setup, grain, work, targets));
    }
    rows
}

/// The speed as a share of that of two plain threads.
fn shares(setup: &Setup, grain: &str, work: Work, targets: [Target; WORKERS.len()]) -> Vec<Row> {
    let ceiling = setup.ceiling(work);
    let items = ceiling.items;
    let rounds = measure(setup.budget, Some(ceiling), contenders(work, items));
    let row = |at: usize| {
        let what = format!("ordered pipeline, {grain}, {} workers: share of the ceiling", WORKERS[at]);
        Row::new(GROUP, what, (targets[at], Unit::Percent), &rounds, |rounds| {
            let each = nanos(rounds.median(|round| round.samples[at]), items);
            let two = nanos(rounds.median(|round| round.two()), items);
            let one = nanos(rounds.median(|round| round.one()), items);
            (
                rounds.summary(|round| 100.0 * round.two() / round.samples[at]),
                format!("{each:.1} ns an item; two plain threads {two:.1}, one {one:.1}"),
            )
        })
    };
    let mut rows: Vec<Row> = (0..WORKERS.len()).map(row).collect();
    mark_best(&mut rows, |a, b| a > b);
    rows
}

/// The cost of an item without work in nanoseconds, since there is no work to share.
fn bare(setup: &Setup) -> Vec<Row> {
    let (work, items) = (setup.works.none, setup.bare_items());
    let rounds = measure(setup.budget, Some(setup.probe()), contenders(work, items));
    let row = |at: usize| {
        let what = format!("ordered pipeline, grain 0, {} workers: an item", WORKERS[at]);
        let target = if WORKERS[at] == 2 { Target::AtMost(9.0) } else { Target::None };
        Row::new(GROUP, what, (target, Unit::Nanoseconds), &rounds, |rounds| {
            let remark = format!("the plain loop {:.1} ns, as calibrated", work.nanos);
            (rounds.summary(|round| nanos(round.samples[at], items)), remark)
        })
    };
    let mut rows: Vec<Row> = (0..WORKERS.len()).map(row).collect();
    mark_best(&mut rows, |a, b| a < b);
    rows
}

/// The cost of an item whose result goes on in any order. The sum of the results shows that each came once.
fn unordered(setup: &Setup) -> Row {
    let (work, items) = (setup.works.none, setup.bare_items());
    let sum = (0..items).fold(0, |sum: u64, item| sum.wrapping_add(work.run(item)));
    let run = move || {
        let stream = Stream::from_iter(0..items).workers(2).unordered().map(move |item| work.run(item));
        Digest::of_number(stream.fold(0, u64::wrapping_add))
    };
    let contender = Contender::timed("unordered", Digest::of_number(sum), run);
    let rounds = measure(setup.budget, Some(setup.probe()), vec![contender]);
    let target = (Target::AtMost(10.0), Unit::Nanoseconds);
    Row::new(GROUP, "unordered map, grain 0, 2 workers: an item", target, &rounds, |rounds| {
        (rounds.summary(|round| nanos(round.samples[0], items)), String::new())
    })
}

fn contenders(work: Work, items: u64) -> Vec<Contender<'static>> {
    let expected = work.fold(0..items);
    let contender = |workers: usize| {
        Contender::timed(format!("{workers} workers"), expected, move || run(work, items, workers))
    };
    WORKERS.into_iter().map(contender).collect()
}

/// The pipeline itself.
pub(super) fn run(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .map(move |item| work.run(item))
        .fold(Digest::EMPTY, Digest::with)
}
