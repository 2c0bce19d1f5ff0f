//! Sources that never wait: their items travel in blocks. Beside them, the chunks that a programmer would make by hand.

use std::ops::Range;

use anabranch::{Source, Stream};

use super::{Setup, nanos};
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

const GROUP: &str = "blocks";
/// The length of the chunks by hand.
const CHUNK_ITEMS: u64 = 2_048;

pub fn rows(setup: &Setup) -> Vec<Row> {
    let works = &setup.works;
    let mut rows = bare(setup);
    rows.push(one_worker(setup));
    for (grain, work, target) in [
        ("55 ns", works.ns_55, 90.0),
        ("100 ns", works.ns_100, 94.0),
        ("1 us", works.us_1, 97.0),
        ("100 us", works.us_100, 97.0),
    ] {
        rows.extend(shares(setup, grain, work, Target::AtLeast(target)));
    }
    rows
}

/// The cost of an item without work, since there is no work to share.
fn bare(setup: &Setup) -> Vec<Row> {
    let (work, items) = (setup.works.none, 4 * setup.bare_items());
    let contenders = vec![
        Contender::timed("from_range", work.fold(0..items), move || from_range(work, items, 2)),
        Contender::timed("in_blocks", work.fold(0..items), move || in_blocks(work, items, 2)),
        Contender::timed("chunks", work.fold(0..items), move || chunks(work, items, 2)),
    ];
    let rounds = measure(setup.budget, Some(setup.probe()), contenders);
    let named = [
        ("from_range", Target::AtMost(2.5)),
        ("from_iter().in_blocks()", Target::AtMost(2.5)),
        ("chunks by hand", Target::None),
    ];
    let row = |(at, (name, target)): (usize, (&str, Target))| {
        let what = format!("{name}, grain 0, 2 workers: an item");
        Row::new(GROUP, what, (target, Unit::Nanoseconds), &rounds, |rounds| {
            let by_hand = rounds.median(|round| round.samples[at] / round.samples[2]);
            (
                rounds.summary(|round| nanos(round.samples[at], items)),
                format!("{by_hand:.2} times chunks by hand; the plain loop {:.1} ns", work.nanos),
            )
        })
    };
    named.into_iter().enumerate().map(row).collect()
}

/// One worker against the plain loop.
fn one_worker(setup: &Setup) -> Row {
    let (work, items) = (setup.works.none, 4 * setup.bare_items());
    let expected = work.fold(0..items);
    let plain = Contender::timed("the plain loop", expected, || work.fold(0..items));
    let one = Contender::timed("1 worker", expected, || from_range(work, items, 1));
    let rounds = measure(setup.budget, Some(setup.probe()), vec![plain, one]);
    let what = "from_range, grain 0, one worker against the plain loop: extra time an item";
    Row::new(GROUP, what, (Target::AtMost(1.0), Unit::Nanoseconds), &rounds, |rounds| {
        let plain = nanos(rounds.median(|round| round.samples[0]), items);
        (
            rounds.summary(|round| nanos(round.samples[1] - round.samples[0], items)),
            format!("the plain loop {plain:.1} ns"),
        )
    })
}

/// The speed as a share of that of two plain threads.
fn shares(setup: &Setup, grain: &str, work: Work, target: Target) -> Vec<Row> {
    let ceiling = setup.ceiling(work);
    let items = ceiling.items;
    let expected = work.fold(0..items);
    let contenders = vec![
        Contender::timed("2 workers", expected, move || from_range(work, items, 2)),
        Contender::timed("4 workers", expected, move || from_range(work, items, 4)),
        Contender::timed("chunks", expected, move || chunks(work, items, 2)),
    ];
    let rounds = measure(setup.budget, Some(ceiling), contenders);
    let named = [
        ("from_range, 2 workers", target),
        ("from_range, 4 workers", Target::None),
        ("chunks by hand, 2 workers", Target::None),
    ];
    let row = |(at, (name, target)): (usize, (&str, Target))| {
        let what = format!("{name}, {grain}: share of the ceiling");
        Row::new(GROUP, what, (target, Unit::Percent), &rounds, |rounds| {
            let each = nanos(rounds.median(|round| round.samples[at]), items);
            let two = nanos(rounds.median(|round| round.two()), items);
            (
                rounds.summary(|round| 100.0 * round.two() / round.samples[at]),
                format!("{each:.1} ns an item; two plain threads {two:.1}"),
            )
        })
    };
    named.into_iter().enumerate().map(row).collect()
}

fn from_range(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_range(0..items)
        .workers(workers)
        .map(move |item| work.run(item))
        .fold(Digest::EMPTY, Digest::with)
}

fn in_blocks(work: Work, items: u64, workers: usize) -> Digest {
    Source::new(0..items)
        .in_blocks()
        .into_stream()
        .workers(workers)
        .map(move |item| work.run(item))
        .fold(Digest::EMPTY, Digest::with)
}

/// As a programmer does it by hand: a chunk is an item of the stream.
fn chunks(work: Work, items: u64, workers: usize) -> Digest {
    // Chunks of about 20 µs, so that short runs have enough of them too.
    let fitting = (20_000.0 / work.nanos.max(1.0)) as u64;
    let length = fitting.clamp(1, CHUNK_ITEMS);
    let chunk = move |first: u64| first..(first + length).min(items);
    let calls = move |numbers: Range<u64>| numbers.map(|item| work.run(item)).collect::<Vec<u64>>();
    Stream::from_iter((0..items).step_by(length as usize).map(chunk))
        .workers(workers)
        .map(calls)
        .fold(Digest::EMPTY, |digest, results| results.into_iter().fold(digest, Digest::with))
}
