//! Schedules over how uneven items are.

use super::{Entry, Setup, Studied, Study, nothing};
use crate::pictures::{Heat, heat};
use crate::systems::SEQUENTIAL;

pub const STUDY: Study = Study {
    name: "skew",
    title: "Schedules over uneven items",
    what: "Tasks of 10 µs on average, of which one in 32, at random places, takes as many times as long as the others as the column \
        says. Replicas take tasks when they are free (on demand), or in turn (dealt, as FastFlow's farm does by default). A cell \
        has how many times as fast as the loop it is.",
    is_experiment: true,
    entries,
    computed: nothing,
    draw,
};

const SKEWS: [&str; 4] = ["1", "8", "64", "512"];
const SCHEDULES: [(&str, &str); 2] = [("on-demand", "on demand (the default)"), ("dealt", "dealt in turn")];

fn entries(setup: &Setup) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (variant, name) in [(SEQUENTIAL, SEQUENTIAL)].into_iter().chain(SCHEDULES) {
        entries.extend(SKEWS.map(|skew| Entry {
            panel: String::new(),
            series: name.into(),
            at: skew.into(),
            application: "skew",
            workload: skew.into(),
            variant,
            workers: setup.cores,
        }));
    }
    entries
}

fn draw(studied: &Studied) -> String {
    let workers = studied.trials.iter().map(|trial| trial.workers).max().unwrap_or(1);
    let cell = |name: &str, skew: &str| {
        let plain = studied.find("", SEQUENTIAL, skew)?;
        let times = studied.find("", name, skew)?.figures.against(&plain.figures);
        let text = format!("{:.2} [{:.2}, {:.2}]", times.median, times.low, times.high);
        Some((text, times.median / workers as f64))
    };
    heat(&Heat {
        caption: &format!("Times as fast as the loop, {workers} workers"),
        axes: ["schedule", "skew"],
        rows: SCHEDULES.map(|(_, name)| name.into()).to_vec(),
        columns: SKEWS.map(Into::into).to_vec(),
        cells: SCHEDULES.map(|(_, name)| SKEWS.map(|skew| cell(name, skew)).to_vec()).to_vec(),
    })
}
