//! Queues over their capacity.

use super::{Entry, Setup, Studied, Study, nothing};
use crate::pictures::{Axis, Line, Look, lines};

pub const STUDY: Study = Study {
    name: "queue",
    title: "Queues over their capacity",
    what: "The time from item to item through a queue from one thread to another, over how many items the queue holds (figure 4 of \
        the paper on FastFlow and many-cores). The record is the queue of Anabranch, item by item and in bursts of a quarter of \
        its capacity. With a capacity of 1 the threads alternate, so this is the time to wake the other one.",
    is_experiment: true,
    entries,
    computed: nothing,
    draw,
};

const CAPACITIES: [usize; 7] = [1, 4, 16, 64, 256, 1024, 4096];
const QUEUES: [(&str, &str); 5] = [
    ("record", "the record, item by item"),
    ("record-bursts", "the record, in bursts"),
    ("crossbeam", "crossbeam's bounded channel"),
    ("threads", "sync_channel of the standard library"),
    ("fastflow", "FastFlow's queue, whose threads yield"),
];

fn entries(setup: &Setup) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (variant, name) in
        QUEUES.into_iter().filter(|(name, _)| name.starts_with("record") || setup.has(name))
    {
        entries.extend(CAPACITIES.map(|capacity| Entry {
            panel: String::new(),
            series: name.into(),
            at: capacity.to_string(),
            application: "queue",
            workload: capacity.to_string(),
            variant,
            workers: 2,
        }));
    }
    entries
}

fn draw(studied: &Studied) -> String {
    let line = |(number, (_, name)): (usize, (&str, &str))| Line {
        name: name.into(),
        look: if number == 0 { Look::Own } else { Look::Other(number - 1) },
        points: CAPACITIES
            .iter()
            .filter_map(|capacity| {
                Some((*capacity as f64, studied.find("", name, &capacity.to_string())?.nanos()))
            })
            .collect(),
    };
    let all: Vec<Line> = QUEUES.into_iter().enumerate().map(line).collect();
    let marks = CAPACITIES.map(|capacity| (capacity as f64, capacity.to_string())).to_vec();
    lines(
        "Time for an item through a queue",
        &Axis::log("capacity, items").marked(marks),
        &Axis::log("ns for an item"),
        &all,
    )
}
