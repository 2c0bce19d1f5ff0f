//! A stream of three stages that is boxed, beside the same one whose type says all.

use anabranch::Stream;

use super::{Setup, nanos};
use anabranch_measure::rounds::{Contender, measure};
use anabranch_measure::table::Row;
use anabranch_measure::target::{Target, Unit};
use anabranch_measure::work::{Digest, Work};

const GROUP: &str = "boxed";

pub fn rows(setup: &Setup) -> Vec<Row> {
    [1, 2].map(|workers| beside(setup, workers)).concat()
}

fn beside(setup: &Setup, workers: usize) -> Vec<Row> {
    let (work, items) = (setup.works.none, setup.bare_items());
    let expected = typed(work, items, workers);
    let contenders = vec![
        Contender::timed("typed", expected, || typed(work, items, workers)),
        Contender::timed("boxed at the end", expected, || boxed(work, items, workers)),
        Contender::timed("boxed after each", expected, || boxed_thrice(work, items, workers)),
    ];
    let rounds = measure(setup.budget, Some(setup.probe()), contenders);
    [(1, "boxed behind them"), (2, "boxed behind each")]
        .map(|(at, how)| {
            let what = format!("three stages, grain 0, {workers} workers, {how}: dearer than typed, an item");
            Row::new(GROUP, what, (Target::AtMost(1.0), Unit::Nanoseconds), &rounds, |rounds| {
                let typed = nanos(rounds.median(|round| round.samples[0]), items);
                (
                    rounds.summary(|round| nanos(round.samples[at] - round.samples[0], items)),
                    format!("typed {typed:.1} ns an item"),
                )
            })
        })
        .into()
}

fn typed(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .map(|item| item ^ 1)
        .map(|item| item ^ 2)
        .map(move |item| work.run(item))
        .fold(Digest::EMPTY, Digest::with)
}

fn boxed(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .map(|item| item ^ 1)
        .map(|item| item ^ 2)
        .map(move |item| work.run(item))
        .boxed()
        .fold(Digest::EMPTY, Digest::with)
}

fn boxed_thrice(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .map(|item| item ^ 1)
        .boxed()
        .map(|item| item ^ 2)
        .boxed()
        .map(move |item| work.run(item))
        .boxed()
        .fold(Digest::EMPTY, Digest::with)
}
