//! What another parallel stage costs: streams with one stage, two and three, none of which has work.

use anabranch::Stream;

use super::{Setup, nanos};
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

const GROUP: &str = "stages";

pub fn rows(setup: &Setup) -> Vec<Row> {
    [(1, 2.0), (2, 1.5)].map(|(workers, target)| beside(setup, workers, target)).concat()
}

fn beside(setup: &Setup, workers: usize, target: f64) -> Vec<Row> {
    let (work, items) = (setup.works.none, setup.bare_items());
    let contenders = vec![
        Contender::timed("one stage", one(work, items, workers), || one(work, items, workers)),
        Contender::timed("two stages", two(work, items, workers), || two(work, items, workers)),
        Contender::timed("three stages", three(work, items, workers), || three(work, items, workers)),
    ];
    let rounds = measure(setup.budget, Some(setup.probe()), contenders);
    [(1, "second"), (2, "third")]
        .map(|(at, which)| {
            let what = format!("grain 0, workers {workers}: what a {which} parallel stage adds, an item");
            Row::new(GROUP, what, (Target::AtMost(target), Unit::Nanoseconds), &rounds, |rounds| {
                let before = nanos(rounds.median(|round| round.samples[at - 1]), items);
                (
                    rounds.summary(|round| nanos(round.samples[at] - round.samples[at - 1], items)),
                    format!("without it {before:.1} ns an item"),
                )
            })
        })
        .into()
}

fn one(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .map(move |item| work.run(item))
        .fold(Digest::EMPTY, Digest::with)
}

fn two(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .map(|item| item ^ 1)
        .map(move |item| work.run(item))
        .fold(Digest::EMPTY, Digest::with)
}

fn three(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .map(|item| item ^ 1)
        .map(|item| item ^ 2)
        .map(move |item| work.run(item))
        .fold(Digest::EMPTY, Digest::with)
}
