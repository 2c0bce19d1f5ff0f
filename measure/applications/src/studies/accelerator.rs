//! A farm next to a sequential program.

use super::{Entry, Setup, Studied, Study, nothing};
use crate::pictures::{escaped, interval, seconds, table};
use crate::systems::SEQUENTIAL;

pub const STUDY: Study = Study {
    name: "accelerator",
    title: "A farm as an accelerator",
    what: "A sequential program off-loads tasks to a farm next to it, gets the results that are there, closes the farm and gets the \
        rest. A task multiplies a matrix of whole numbers by one that all share (figure 9 of the paper on FastFlow and many-cores), \
        or does nothing. The farm has as many workers as there are cores, and the caller is one thread more. The cost of a task is \
        the time for a task that does nothing, less that of the loop.",
    is_experiment: true,
    entries,
    computed: nothing,
    draw,
};

const WORKLOADS: [(&str, &str); 4] =
    [("empty", "nothing"), ("32", "32 x 32"), ("64", "64 x 64"), ("128", "128 x 128")];
const WAYS: [(&str, &str); 2] = [("offload", "off-loaded"), ("builder", "as a stream")];

fn entries(setup: &Setup) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (workload, name) in WORKLOADS {
        entries.extend([(SEQUENTIAL, SEQUENTIAL)].into_iter().chain(WAYS).map(|(variant, way)| Entry {
            panel: String::new(),
            series: way.into(),
            at: name.into(),
            application: "accelerator",
            workload: workload.into(),
            variant,
            workers: setup.cores,
        }));
    }
    entries
}

fn draw(studied: &Studied) -> String {
    let row = |(_, task): (&str, &str)| {
        let plain = studied.find("", SEQUENTIAL, task)?;
        let mut cells = vec![escaped(task), seconds(plain.nanos().median / 1e9)];
        for (_, way) in WAYS {
            let trial = studied.find("", way, task)?;
            cells.push(seconds(trial.nanos().median / 1e9));
            cells.push(interval(trial.figures.against(&plain.figures)));
        }
        Some(cells)
    };
    let head = [
        "a task multiplies",
        "the loop",
        "off-loaded",
        "times as fast as the loop",
        "as a stream",
        "times as fast as the loop",
    ];
    let mut body =
        table("Time for a task", &head, &WORKLOADS.into_iter().filter_map(row).collect::<Vec<_>>());
    let of = |way| Some(studied.find("", way, "nothing")?.nanos().median);
    if let (Some(plain), Some(offload), Some(stream)) = (of(SEQUENTIAL), of("off-loaded"), of("as a stream"))
    {
        body += &format!(
            "<p>To off-load a task and to get its result costs {}; a stream costs {} for each item.</p>\n",
            seconds((offload - plain).max(0.0) / 1e9),
            seconds((stream - plain).max(0.0) / 1e9)
        );
    }
    body
}
