//! The cost of order.

use measure_programs::Scale;

use super::{Entry, Setup, Studied, Study, nothing};
use crate::pictures::bars;
use crate::systems::{Side, gives_up_order, side};

pub const STUDY: Study = Study {
    name: "order",
    title: "The cost of order",
    what: "The same tasks, whose results are added up, with their order kept and without. Only the systems that have both take \
        part. The number is the time with order divided by the time without: 1 means that order costs nothing. In skewed, one \
        task of 64 takes as long as the others together, and the results behind it wait for it.",
    is_experiment: false,
    entries,
    computed: nothing,
    draw,
};

const TASKS: [(&str, &str); 2] = [("skewed", "skewed tasks of 1 µs on average"), ("1us", "tasks of 1 µs")];
const ORDERS: [&str; 2] = ["ordered", "unordered"];

fn entries(setup: &Setup) -> Vec<Entry> {
    let mut entries = Vec::new();
    let tasks = if setup.scale == Scale::Quick { &TASKS[..1] } else { &TASKS };
    for &(tasks, panel) in tasks {
        for &variant in setup.variants.iter().filter(|variant| gives_up_order(variant)) {
            entries.extend(ORDERS.map(|order| Entry {
                panel: panel.into(),
                series: variant.into(),
                at: order.into(),
                application: "order",
                workload: format!("{tasks}:{order}"),
                variant,
                workers: setup.cores,
            }));
        }
    }
    entries
}

fn draw(studied: &Studied) -> String {
    let mut body = String::new();
    for panel in studied.panels() {
        let of = |series| {
            let [ordered, unordered] = ORDERS.map(|order| studied.find(panel, series, order));
            // `against` is how many times as fast the second is in the same rounds.
            Some(unordered?.figures.against(&ordered?.figures))
        };
        let names = super::distinct(studied.of_panel(panel).map(|trial| trial.series.as_str()));
        let rows = names
            .into_iter()
            .filter_map(|name| Some((name.into(), side(name) == Side::Anabranch, of(name)?)));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|a: &(String, bool, _), b| f64::total_cmp(&a.2.median, &b.2.median));
        body += &bars(&format!("The cost of order, {panel}"), ["system", "time with order / without"], &rows);
    }
    body
}
