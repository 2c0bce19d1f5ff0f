//! bzip2 and lzip with the settings of SPar.

use measure_harness::statistics::Summary;
use measure_programs::Scale;

use super::{Entry, Setup, Studied, Study, Trial, nothing};
use crate::pictures::{Axis, Line, Look, figures, lines};

pub const STUDY: Study = Study {
    name: "compression",
    title: "Schedule, wait, window and workers",
    what: "bzip2 and lzip with the settings of SPar (figures 3 and 5 of its paper): a worker takes a block on demand or in turn \
        (SPar's -spar_ondemand), threads that wait sleep or spin (-spar_blocking), and the window is how many blocks may be \
        inside. Each block is a copy, as if it came from a file, so memory grows with the window.",
    is_experiment: true,
    entries,
    computed: nothing,
    draw,
};

const PROGRAMS: [&str; 2] = ["bzip2", "lzip"];
const WINDOWS: [usize; 3] = [2, 8, 32];
const SETTINGS: [(&str, &str, &str); 4] = [
    ("on-demand", "park", "on demand, sleep"),
    ("on-demand", "spin", "on demand, spin"),
    ("dealt", "park", "dealt, sleep"),
    ("dealt", "spin", "dealt, spin"),
];

fn workers(cores: usize) -> Vec<usize> {
    if cores < 4 { vec![cores, 2 * cores] } else { vec![2, cores] }
}

fn panel(program: &str, workers: usize) -> String {
    format!("{program}, {workers} workers")
}

fn entries(setup: &Setup) -> Vec<Entry> {
    let mut entries = Vec::new();
    let is_quick = setup.scale == Scale::Quick;
    let windows = if is_quick { &WINDOWS[..2] } else { &WINDOWS };
    let workers: Vec<usize> = workers(setup.cores).into_iter().take(if is_quick { 1 } else { 2 }).collect();
    let programs = if is_quick { &PROGRAMS[..1] } else { &PROGRAMS };
    for program in programs {
        for &workers in &workers {
            for (schedule, wait, name) in SETTINGS {
                entries.extend(windows.iter().map(|window| Entry {
                    panel: panel(program, workers),
                    series: name.into(),
                    at: window.to_string(),
                    application: "compression",
                    workload: format!("{program}:{schedule}:{wait}:{window}"),
                    variant: "builder",
                    workers,
                }));
            }
        }
    }
    entries
}

fn draw(studied: &Studied) -> String {
    let chart = |title: String, panel: &str, y: Axis, value: &dyn Fn(&Trial) -> Option<Summary>| {
        let line = |(number, (_, _, name)): (usize, (&str, &str, &str))| Line {
            name: name.into(),
            look: if number == 0 { Look::Own } else { Look::Other(number - 1) },
            points: WINDOWS
                .iter()
                .filter_map(|window| {
                    Some((*window as f64, value(studied.find(panel, name, &window.to_string())?)?))
                })
                .collect(),
        };
        let all: Vec<Line> = SETTINGS.into_iter().enumerate().map(line).collect();
        let marks = WINDOWS.map(|window| (window as f64, window.to_string())).to_vec();
        lines(&title, &Axis::log("window, blocks").marked(marks), &y, &all)
    };
    let of_panel = |panel: &str| {
        let time = chart(format!("{panel}: time"), panel, Axis::linear("ms"), &|trial| {
            Some(trial.each(|seconds| seconds * 1e3))
        });
        let memory = chart(format!("{panel}: memory"), panel, Axis::linear("MiB"), &|trial| {
            let mebibytes = trial.figures.memory? / f64::from(1 << 20);
            Some(Summary { median: mebibytes, low: mebibytes, high: mebibytes })
        });
        time + &memory
    };
    figures(studied.panels().into_iter().map(of_panel))
}
