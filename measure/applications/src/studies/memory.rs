//! Where the memory of items comes from.

use std::fs::read_to_string;

use super::{Entry, Setup, Studied, Study, nothing};
use crate::pictures::{Axis, Line, Look, bytes, escaped, figures, lines};

pub const STUDY: Study = Study {
    name: "memory",
    title: "Where the memory of items comes from",
    what: "Workers fill buffers, and the sink reads a word of each page of them, over the size of a buffer. The buffers come from \
        the allocator and are freed by the sink, from a recycler that all workers share, from an arena of the worker, or from a \
        recycler in a region of huge pages. These are the allocation policies of the paper on FastFlow and many-cores (figure 7), \
        as far as today's machines have them. At most 32 items are inside.",
    is_experiment: true,
    entries,
    computed: nothing,
    draw,
};

const SIZES: [usize; 4] = [1 << 10, 16 << 10, 256 << 10, 4 << 20];
const POLICIES: [(&str, &str); 4] = [
    ("recycled", "recycled"),
    ("fresh", "fresh from the allocator"),
    ("arena", "an arena for each worker"),
    ("huge-pages", "recycled, in huge pages"),
];

fn entries(setup: &Setup) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (variant, name) in POLICIES {
        entries.extend(SIZES.map(|size| Entry {
            panel: String::new(),
            series: name.into(),
            at: size.to_string(),
            application: "memory",
            workload: size.to_string(),
            variant,
            workers: setup.cores,
        }));
    }
    entries
}

fn draw(studied: &Studied) -> String {
    let chart = |title: &str, y: Axis, value: &dyn Fn(&super::Trial) -> Option<_>| {
        let line = |(number, (_, name)): (usize, (&str, &str))| Line {
            name: name.into(),
            look: if number == 0 { Look::Own } else { Look::Other(number - 1) },
            points: SIZES
                .iter()
                .filter_map(|size| Some((*size as f64, value(studied.find("", name, &size.to_string())?)?)))
                .collect(),
        };
        let all: Vec<Line> = POLICIES.into_iter().enumerate().map(line).collect();
        let marks =
            SIZES.map(|size| (size as f64, bytes(size as f64).replace(".00", "").replace(".0", ""))).to_vec();
        lines(title, &Axis::log("size of an item").marked(marks), &y, &all)
    };
    let speed = chart("Throughput by where the memory comes from", Axis::linear("GB a second"), &|trial| {
        Some(trial.each(|seconds| trial.amount / seconds))
    });
    let memory = chart("Memory by where it comes from", Axis::log("peak, MiB"), &|trial| {
        let mebibytes = trial.figures.memory.map(|bytes| (bytes / f64::from(1 << 20)).max(0.01))?;
        Some(measure_harness::statistics::Summary { median: mebibytes, low: mebibytes, high: mebibytes })
    });
    let setting = read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let pages = match setting.as_deref() {
        Ok(setting) if setting.contains("[never]") => {
            "This system gives no transparent huge pages, so that line has small ones.".into()
        }
        Ok(setting) => format!("Transparent huge pages of this system: {}.", setting.trim()),
        Err(_) => "This system does not say whether it has transparent huge pages.".to_owned(),
    };
    figures([speed, memory]) + &format!("<p class=\"note\">{}</p>\n", escaped(&pages))
}
