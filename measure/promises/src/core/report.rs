//! The cost of `.report()`.

use anabranch::Stream;

use super::pipeline::run;
use super::{Setup, nanos};
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

const WORKERS: usize = 2;

pub fn rows(setup: &Setup) -> Vec<Row> {
    let ceiling = setup.ceiling(setup.works.us_1);
    let (work, items) = (ceiling.work, ceiling.items);
    let expected = work.fold(0..items);
    let off = Contender::timed("without a report", expected, || run(work, items, WORKERS));
    let on = Contender::timed("with a report", expected, || reported(work, items));
    let rounds = measure(setup.budget, Some(ceiling), vec![off, on]);
    let what = "report(), 1 us, 2 workers: extra time";
    vec![Row::new("report", what, (Target::AtMost(3.0), Unit::Percent), &rounds, |rounds| {
        let off = nanos(rounds.median(|round| round.samples[0]), items);
        (
            rounds.summary(|round| 100.0 * (round.samples[1] / round.samples[0] - 1.0)),
            format!("{off:.0} ns an item without"),
        )
    })]
}

fn reported(work: Work, items: u64) -> Digest {
    let (digest, _report) = Stream::from_iter(0..items)
        .workers(WORKERS)
        .map(move |item| work.run(item))
        .report()
        .fold(Digest::EMPTY, Digest::with);
    digest
}
