//! Twice as many threads as cores.

use measure_programs::Scale;

use super::{Entry, Setup, Studied, Study, nothing};
use crate::pictures::bars;
use crate::systems::{Side, measures, side};

pub const STUDY: Study = Study {
    name: "oversubscription",
    title: "Twice as many threads as cores",
    what: "Each system with as many workers as there are cores, and with twice as many. The number is the time with twice as \
        many divided by the time with one for each core: above 1, more threads cost time.",
    is_experiment: false,
    entries,
    computed: nothing,
    draw,
};

const CASES: [(&str, &str); 3] = [("farm", "1us"), ("micro", "500"), ("bzip2", "text")];
const TIMES: [(&str, usize); 2] = [("one", 1), ("two", 2)];

fn entries(setup: &Setup) -> Vec<Entry> {
    let mut entries = Vec::new();
    let cases = if setup.scale == Scale::Full { &CASES[..] } else { &CASES[..1] };
    for &(application, workload) in cases {
        for &variant in setup.variants.iter().filter(|variant| measures(variant, application)) {
            entries.extend(TIMES.map(|(at, times)| Entry {
                panel: format!("{application} {workload}"),
                series: variant.into(),
                at: at.into(),
                application,
                workload: workload.into(),
                variant,
                workers: times * setup.cores,
            }));
        }
    }
    entries
}

fn draw(studied: &Studied) -> String {
    let mut body = String::new();
    for panel in studied.panels() {
        let of = |series| {
            let [one, two] = TIMES.map(|(at, _)| studied.find(panel, series, at));
            Some((one?.figures.against(&two?.figures), one?.workers))
        };
        let names = super::distinct(studied.of_panel(panel).map(|trial| trial.series.as_str()));
        let mut rows: Vec<_> = names
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), side(name) == Side::Anabranch, of(name)?.0)))
            .collect();
        rows.sort_by(|a, b| a.2.median.total_cmp(&b.2.median));
        let cores = studied.of_panel(panel).map(|trial| trial.workers).min().unwrap_or(1);
        let caption = format!("{panel}: {} workers against {cores}", 2 * cores);
        body += &bars(&caption, ["system", "time with twice as many / with one for each core"], &rows);
    }
    body
}
