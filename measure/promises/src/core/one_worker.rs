//! One worker against the plain loop: the cost of a stream that cannot gain anything.

use super::pipeline::run;
use super::{Setup, nanos};
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};

const GROUP: &str = "one-worker";

pub fn rows(setup: &Setup) -> Vec<Row> {
    vec![bare(setup), one_microsecond(setup)]
}

fn bare(setup: &Setup) -> Row {
    let (work, items) = (setup.works.none, setup.bare_items());
    let expected = work.fold(0..items);
    let plain = Contender::timed("the plain loop", expected, || work.fold(0..items));
    let one = Contender::timed("1 worker", expected, || run(work, items, 1));
    let rounds = measure(setup.budget, Some(setup.probe()), vec![plain, one]);
    let what = "one worker against the plain loop, grain 0: extra time an item";
    Row::new(GROUP, what, (Target::AtMost(3.0), Unit::Nanoseconds), &rounds, |rounds| {
        let plain = nanos(rounds.median(|round| round.samples[0]), items);
        (
            rounds.summary(|round| nanos(round.samples[1] - round.samples[0], items)),
            format!("the plain loop {plain:.1} ns"),
        )
    })
}

fn one_microsecond(setup: &Setup) -> Row {
    let ceiling = setup.ceiling(setup.works.us_1);
    let (work, items) = (ceiling.work, ceiling.items);
    let one = Contender::timed("1 worker", work.fold(0..items), || run(work, items, 1));
    let rounds = measure(setup.budget, Some(ceiling), vec![one]);
    let what = "one worker against the plain loop, 1 us: extra time";
    Row::new(GROUP, what, (Target::AtMost(5.0), Unit::Percent), &rounds, |rounds| {
        let plain = nanos(rounds.median(|round| round.one()), items);
        (
            rounds.summary(|round| 100.0 * (round.samples[0] / round.one() - 1.0)),
            format!("the plain loop {plain:.0} ns"),
        )
    })
}
