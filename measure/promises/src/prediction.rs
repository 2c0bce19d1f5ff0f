//! The suite of predictions: the throughput of several workers, predicted from the costs that one worker
//! measures, against the measured one.

use std::time::Duration;

use anabranch::default_workers;
use anabranch::plan::Machine;

use crate::lines::{self, Knobs, Line, Ran};
use crate::look::{Look, Measured};
use measure_harness::rounds::{Budget, Contender, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Work;

/// The pipeline that is predicted for many workers, and their numbers.
const SLEEPER: &str = "parallel stage that waits, 16 workers";
const WORKERS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The pipeline with the least work for an item, whose target is another one.
const FINE: &str = "items of 100 ns";

/// The names of the pipelines.
pub fn names() -> Vec<String> {
    lines::all().map(|line| line.name.into()).collect()
}

/// Predicts and measures each pipeline.
pub fn measure(look: &Look) -> Measured {
    let setup = Setup { unit: Work::of(1e3), quick: look.quick };
    let mut rows = Vec::new();
    for line in lines::all().filter(|line| look.at(line.name)) {
        if line.name == SLEEPER {
            rows.extend(WORKERS.map(|workers| {
                let what = format!("parallel stage that waits, {workers} workers");
                setup.row(line, what, workers, workers as f64 / 16.0)
            }));
        } else {
            rows.push(setup.row(line, line.name.into(), line.workers.unwrap_or_else(default_workers), 1.0));
        }
    }
    Measured { rows, ..Measured::default() }
}

/// This machine, as a report of one worker predicts for it.
fn machine() -> Machine {
    Machine::new(default_workers())
}

struct Setup {
    unit: Work,
    quick: bool,
}

impl Setup {
    /// A row for one pipeline with this many workers. It processes `times` as many items as usual in the same
    /// time.
    fn row(&self, line: &Line, what: String, workers: usize, times: f64) -> Row {
        let (rounds, mut seconds) = if self.quick { (7, 0.014) } else { (15, 0.08) };
        if line.waits && !self.quick {
            // A throughput must not include starting 64 threads and waiting for the last items.
            seconds *= 3.0;
        }
        let budget =
            Budget { wanted: rounds, least: 7, time: Duration::from_secs(if self.quick { 2 } else { 12 }) };
        let items = line.items(seconds * times);
        // A plan has mean costs, and a few items that sleep are enough to measure a mean.
        let few = line.items(seconds / line.workers.unwrap_or(1) as f64);
        let run = |items, knobs| line.run(self.unit, items, knobs);
        let one = Knobs { workers: Some(1), report: true, ..Knobs::default() };
        let plain = Knobs { workers: Some(1), ..Knobs::default() };
        let predicted = Contender::sampled("one worker", run(few, one).digest, || {
            let Ran { digest, report, .. } = run(few, one);
            let report = report.expect("it was asked for");
            let prediction = report.measured_plan().predict_on(&machine(), workers);
            (prediction.map_or(f64::NAN, |prediction| prediction.per_item), digest)
        });
        let many = Knobs { workers: Some(workers), ..Knobs::default() };
        let measured = Contender::sampled("several workers", run(items, plain).digest, || {
            let Ran { seconds, digest, .. } = run(items, many);
            (seconds * 1e9 / items as f64, digest)
        });
        let rounds = play(budget, line.probe(self.unit, seconds / 4.0), vec![predicted, measured]);
        Row::new(
            "prediction",
            what,
            (Target::Within(if line.name == FINE { 7.0 } else { 10.0 }), Unit::Percent),
            &rounds,
            |rounds| {
                let rate = |at: usize| rounds.median(|round| 1e9 / round.samples[at]);
                (
                    rounds.summary(|round| 100.0 * (round.samples[1] / round.samples[0] - 1.0)),
                    format!("{:.0} items a second predicted, {:.0} measured", rate(0), rate(1)),
                )
            },
        )
    }
}
