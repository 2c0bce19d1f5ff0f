//! Items that go to two branches, whose results are merged again, compared with two plain threads that do the same work.

use anabranch::Stream;

use super::{Setup, nanos};
use measure_harness::rounds::{Ceiling, Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

pub fn rows(setup: &Setup) -> Vec<Row> {
    let work = setup.works.us_1;
    // Each item is work in both branches.
    let items = work.items(setup.plain / 2.0);
    let ceiling = Ceiling { work, items: 2 * items };
    let expected = plain(work, items);
    let contenders = vec![
        Contender::timed("serial branches", expected, || serial(work, items)),
        Contender::timed("parallel branches", expected, || parallel(work, items)),
    ];
    let rounds = measure(setup.budget, Some(ceiling), contenders);
    ["a serial stage in each", "a parallel stage in each"]
        .into_iter()
        .enumerate()
        .map(|(at, how)| {
            let what =
                format!("broadcast to 2 and merge, 1 us items, {how}, 2 workers: share of the ceiling");
            Row::new("branches", what, (Target::AtLeast(90.0), Unit::Percent), &rounds, |rounds| {
                let each = nanos(rounds.median(|round| round.samples[at]), items);
                (
                    rounds.summary(|round| 100.0 * round.two() / round.samples[at]),
                    format!("{each:.0} ns an item of the source, which is 1 us of work in each branch"),
                )
            })
        })
        .collect()
}

fn plain(work: Work, items: u64) -> Digest {
    (0..items).flat_map(|item| [work.run(item), work.run(!item)]).fold(Digest::EMPTY, Digest::with)
}

fn serial(work: Work, items: u64) -> Digest {
    Stream::from_iter(0..items)
        .workers(2)
        .broadcast()
        .branch(|items| items.serial_map(move |item| work.run(item)))
        .branch(|items| items.serial_map(move |item: u64| work.run(!item)))
        .merge()
        .fold(Digest::EMPTY, Digest::with)
}

fn parallel(work: Work, items: u64) -> Digest {
    Stream::from_iter(0..items)
        .workers(2)
        .broadcast()
        .branch(|items| items.map(move |item| work.run(item)))
        .branch(|items| items.map(move |item: u64| work.run(!item)))
        .merge()
        .fold(Digest::EMPTY, Digest::with)
}
