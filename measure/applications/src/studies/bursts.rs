//! The window and the burst.

use super::{Entry, Setup, Studied, Study, nothing};
use crate::pictures::{Heat, heat};

pub const STUDY: Study = Study {
    name: "bursts",
    title: "Window and burst",
    what: "Tasks of 200 ns. The window is how many items may be inside, and the burst how many a worker claims at once; auto is \
        the default, which adapts to the cost of the items. A cell has the time for a task in nanoseconds. A burst that is as \
        large as the window leaves nothing for the other workers.",
    is_experiment: true,
    entries,
    computed: nothing,
    draw,
};

const WINDOWS: [usize; 5] = [16, 64, 256, 1024, 4096];
const BURSTS: [&str; 6] = ["1", "4", "16", "64", "256", "auto"];

fn entries(setup: &Setup) -> Vec<Entry> {
    let mut entries = Vec::new();
    for window in WINDOWS {
        // A burst is at most a window.
        let fits = |burst: &&str| burst.parse().map_or(true, |burst: usize| burst <= window);
        entries.extend(BURSTS.into_iter().filter(fits).map(|burst| Entry {
            panel: String::new(),
            series: window.to_string(),
            at: burst.into(),
            application: "bursts",
            workload: format!("{window}/{burst}"),
            variant: "builder",
            workers: setup.cores,
        }));
    }
    entries
}

fn draw(studied: &Studied) -> String {
    let least = studied.trials.iter().map(|trial| trial.nanos().median).fold(f64::INFINITY, f64::min);
    let cell = |window: usize, burst| {
        let nanos = studied.find("", &window.to_string(), burst)?.nanos();
        Some((format!("{:.0} [{:.0}, {:.0}]", nanos.median, nanos.low, nanos.high), least / nanos.median))
    };
    heat(&Heat {
        caption: "Nanoseconds for a task",
        axes: ["window", "burst"],
        rows: WINDOWS.map(|window| window.to_string()).to_vec(),
        columns: BURSTS.map(Into::into).to_vec(),
        cells: WINDOWS.map(|window| BURSTS.map(|burst| cell(window, burst)).to_vec()).to_vec(),
    })
}
