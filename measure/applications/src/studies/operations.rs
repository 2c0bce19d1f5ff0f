//! Operations for each access to memory.

use super::{Entry, Setup, Studied, Study, nothing};
use crate::pictures::{Axis, Line, Look, lines};
use crate::systems::SEQUENTIAL;

pub const STUDY: Study = Study {
    name: "operations",
    title: "Operations for each access to memory",
    what: "A map reads each element of an array of 8 bytes each, multiplies it as many times as the axis says, and stores the \
        result in another array (figure 6, right, of the paper on FastFlow and many-cores). The arrays are larger than a core's \
        own caches, and each workload has as many multiplications in all. Where an element takes few of them, the cores \
        share the bandwidth of the memory.",
    is_experiment: true,
    entries,
    computed: nothing,
    draw,
};

const COUNTS: [usize; 6] = [1, 4, 16, 64, 256, 1024];

fn entries(setup: &Setup) -> Vec<Entry> {
    let entry = |variant: &'static str, count: usize| Entry {
        panel: String::new(),
        series: variant.into(),
        at: count.to_string(),
        application: "operations",
        workload: count.to_string(),
        variant,
        workers: setup.cores,
    };
    let of = |variant: &'static str| COUNTS.map(|count| entry(variant, count));
    [SEQUENTIAL, "builder"].into_iter().flat_map(of).collect()
}

fn draw(studied: &Studied) -> String {
    let workers = studied.trials.iter().map(|trial| trial.workers).max().unwrap_or(1);
    let point = |count: usize| {
        let at = count.to_string();
        let plain = studied.find("", SEQUENTIAL, &at)?;
        let ours = studied.find("", "builder", &at)?;
        Some((count as f64, ours.figures.against(&plain.figures)))
    };
    let line = Line {
        name: format!("Anabranch, {workers} workers"),
        look: Look::Own,
        points: COUNTS.into_iter().filter_map(point).collect(),
    };
    let marks = COUNTS.map(|count| (count as f64, count.to_string())).to_vec();
    lines(
        "Times as fast as the loop",
        &Axis::log("multiplications for each element").marked(marks),
        &Axis::linear("times as fast"),
        &[line],
    )
}
