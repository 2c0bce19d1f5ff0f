//! Serial, parallel, serial, parallel, serial: three cheap serial stages (the fold is one of them), and two
//! parallel ones that share the work.

use anabranch::Stream;

use super::{Setup, nanos};
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::{Row, mark_best};
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Running, Work};

const GROUP: &str = "several";
const WORKERS: [usize; 3] = [2, 3, 4];
/// The targets for items without work, in nanoseconds an item.
const TARGETS: [Target; 3] = [Target::AtMost(15.0), Target::None, Target::AtMost(26.0)];

pub fn rows(setup: &Setup) -> Vec<Row> {
    let mut rows = bare(setup);
    rows.extend(shares(setup));
    rows
}

fn shares(setup: &Setup) -> Vec<Row> {
    let ceiling = setup.ceiling(setup.works.us_1);
    let items = ceiling.items;
    let rounds = measure(setup.budget, Some(ceiling), contenders(setup.works.us_1.half(), items));
    let row = |at: usize| {
        let what = format!("three serial stages, 1 us, {} workers: share of the ceiling", WORKERS[at]);
        Row::new(GROUP, what, (Target::AtLeast(88.0), Unit::Percent), &rounds, |rounds| {
            let each = nanos(rounds.median(|round| round.samples[at]), items);
            let two = nanos(rounds.median(|round| round.two()), items);
            (
                rounds.summary(|round| 100.0 * round.two() / round.samples[at]),
                format!("{each:.1} ns an item; two plain threads {two:.1}"),
            )
        })
    };
    let mut rows: Vec<Row> = (0..WORKERS.len()).map(row).collect();
    mark_best(&mut rows, |a, b| a > b);
    rows
}

fn bare(setup: &Setup) -> Vec<Row> {
    let items = setup.bare_items() / 2;
    let rounds = measure(setup.budget, Some(setup.probe()), contenders(setup.works.none, items));
    let row = |at: usize| {
        let what = format!("three serial stages, grain 0, {} workers: an item", WORKERS[at]);
        Row::new(GROUP, what, (TARGETS[at], Unit::Nanoseconds), &rounds, |rounds| {
            (rounds.summary(|round| nanos(round.samples[at], items)), String::new())
        })
    };
    let mut rows: Vec<Row> = (0..WORKERS.len()).map(row).collect();
    mark_best(&mut rows, |a, b| a < b);
    rows
}

fn contenders(half: Work, items: u64) -> Vec<Contender<'static>> {
    let expected = plain(half, items);
    let contender = |workers: usize| {
        Contender::timed(format!("{workers} workers"), expected, move || run(half, items, workers))
    };
    WORKERS.into_iter().map(contender).collect()
}

fn plain(half: Work, items: u64) -> Digest {
    let (mut first, mut second) = (Running::default(), Running::default());
    (0..items)
        .map(|item| first.next(item))
        .map(|item| half.run(item))
        .map(|item| second.next(item))
        .map(|item| half.run(item))
        .fold(Digest::EMPTY, Digest::with)
}

fn run(half: Work, items: u64, workers: usize) -> Digest {
    let (mut first, mut second) = (Running::default(), Running::default());
    Stream::from_iter(0..items)
        .workers(workers)
        .serial_map(move |item| first.next(item))
        .map(move |item| half.run(item))
        .serial_map(move |item| second.next(item))
        .map(move |item| half.run(item))
        .fold(Digest::EMPTY, Digest::with)
}
