//! From one worker to all cores, with what Anabranch predicts from one worker.

use measure_programs::Scale;

use super::prediction::{CASES, PREDICTED, numbers, panel, predicted};
use super::{Entry, Setup, Studied, Study};
use crate::pictures::{Axis, Line, Look, figures, lines};
use crate::systems::{SEQUENTIAL, Side, measures, side};

pub const STUDY: Study = Study {
    name: "scaling",
    title: "From one worker to all cores",
    what: "How many times as fast as the plain loop, over the number of workers. The dashed line is what Anabranch predicts from \
        the report of a run with one worker, for a machine with this many cores.",
    is_experiment: false,
    entries,
    computed: predicted,
    draw,
};

/// How many cases there are in a quick look.
const QUICK_CASES: usize = 2;

/// Anabranch, and the rivals that most often come next to it.
const VARIANTS: [&str; 5] = ["builder", "crossbeam", "rayon", "tbb", "fastflow"];

fn entries(setup: &Setup) -> Vec<Entry> {
    let mut entries = Vec::new();
    let cases = if setup.scale == Scale::Quick { &CASES[..QUICK_CASES] } else { &CASES };
    for &(application, workload) in cases {
        let entry = |variant: &'static str, workers: usize| Entry {
            panel: panel(application, workload),
            series: variant.into(),
            at: workers.to_string(),
            application,
            workload: workload.into(),
            variant,
            workers,
        };
        entries.push(entry(SEQUENTIAL, 1));
        for variant in VARIANTS.into_iter().filter(|variant| setup.has(variant)) {
            if measures(variant, application) {
                entries.extend(numbers(setup.cores).into_iter().map(|workers| entry(variant, workers)));
            }
        }
    }
    entries
}

fn draw(studied: &Studied) -> String {
    figures(studied.panels().into_iter().map(|panel| {
        let Some(plain) = studied.of_panel(panel).find(|trial| trial.series == SEQUENTIAL) else {
            return String::new();
        };
        let names = super::distinct(studied.of_panel(panel).map(|trial| trial.series.as_str()));
        let line = |(number, name): (usize, &str)| Line {
            name: name.into(),
            look: match side(name) {
                _ if name == PREDICTED => Look::Computed,
                Side::Anabranch => Look::Own,
                _ => Look::Other(number),
            },
            points: studied
                .of_panel(panel)
                .filter(|trial| trial.series == name)
                .map(|trial| (trial.workers as f64, trial.figures.against(&plain.figures)))
                .collect(),
        };
        let all: Vec<Line> =
            names.into_iter().filter(|name| *name != SEQUENTIAL).enumerate().map(line).collect();
        let mut workers: Vec<usize> = studied.of_panel(panel).map(|trial| trial.workers).collect();
        workers.sort_unstable();
        workers.dedup();
        let marks = workers.into_iter().map(|number| (number as f64, number.to_string())).collect();
        lines(panel, &Axis::log("workers").marked(marks), &Axis::linear("times as fast as the loop"), &all)
    }))
}
