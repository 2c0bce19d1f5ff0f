//! The cost of `.report_to(..)`.

use anabranch::{ReportSlot, Stream};

use super::pipeline::run;
use super::{Setup, nanos};
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

pub fn rows(setup: &Setup) -> Vec<Row> {
    let works = &setup.works;
    vec![
        row(setup, works.us_1, 2, (3.0, "report(), 1 us, 2 workers: extra time")),
        row(setup, works.ns_100, 1, (5.0, "report(), 100 ns, one worker: extra time")),
    ]
}

fn row(setup: &Setup, work: Work, workers: usize, (target, what): (f64, &str)) -> Row {
    let ceiling = setup.ceiling(work);
    let items = ceiling.items;
    let expected = work.fold(0..items);
    let off = Contender::timed("without a report", expected, || run(work, items, workers));
    let on = Contender::timed("with a report", expected, || reported(work, items, workers));
    let rounds = measure(setup.budget, Some(ceiling), vec![off, on]);
    Row::new("report", what, (Target::AtMost(target), Unit::Percent), &rounds, |rounds| {
        let off = nanos(rounds.median(|round| round.samples[0]), items);
        (
            rounds.summary(|round| 100.0 * (round.samples[1] / round.samples[0] - 1.0)),
            format!("{off:.0} ns an item without"),
        )
    })
}

fn reported(work: Work, items: u64, workers: usize) -> Digest {
    let slot = ReportSlot::new();
    Stream::from_iter(0..items)
        .workers(workers)
        .map(move |item| work.run(item))
        .report_to(&slot)
        .fold(Digest::EMPTY, Digest::with)
}
