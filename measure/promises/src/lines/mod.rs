//! Pipelines of many shapes, each with the stage that bounds it. The suites of reports, predictions and
//! automatic settings use them.

mod busy;
mod fine;
mod waiting;

use std::thread::sleep;
use std::time::{Duration, Instant};

use anabranch::{Report, ReportSlot, Source, Stream};

use measure_harness::rounds::Ceiling;
use measure_harness::work::{Digest, Work};

/// A pipeline.
#[derive(Debug)]
pub struct Line {
    pub name: &'static str,
    /// The stage that bounds it with two workers on two cores. Empty if several stages do.
    pub bound_by: &'static str,
    /// Whether it mostly waits, and needs no two cores.
    pub waits: bool,
    /// How many workers it has unless a run says otherwise. `None` means as many as there are cores.
    pub workers: Option<usize>,
    /// About how many microseconds it takes for an item of the source.
    pub micros: f64,
    run: fn(&Job) -> Ran,
}

/// The settings of a run. What is not set has its default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Knobs {
    pub workers: Option<usize>,
    pub window: Option<usize>,
    pub burst: Option<usize>,
    /// The replicas of the parallel stage that costs most.
    pub replicas: Option<usize>,
    pub report: bool,
}

/// The results of a run.
#[derive(Debug)]
pub struct Ran {
    pub seconds: f64,
    pub digest: Digest,
    pub report: Option<Report>,
}

/// The parts from which a pipeline is built.
#[derive(Debug)]
struct Job {
    /// Work that takes one microsecond.
    unit: Work,
    items: u64,
    knobs: Knobs,
}

/// All pipelines.
pub fn all() -> impl Iterator<Item = &'static Line> {
    busy::LINES.iter().chain(waiting::LINES).chain(fine::LINES)
}

impl Line {
    /// A pipeline that computes, with as many workers as there are cores.
    const fn new(name: &'static str, bound_by: &'static str, micros: f64, run: fn(&Job) -> Ran) -> Self {
        Self { name, bound_by, waits: false, workers: None, micros, run }
    }

    /// The same, which mostly waits.
    const fn waiting(self) -> Self {
        Self { waits: true, ..self }
    }

    /// The same with this many workers.
    const fn with(self, workers: usize) -> Self {
        Self { workers: Some(workers), ..self }
    }

    /// About how many items of the source take this many seconds.
    pub fn items(&self, seconds: f64) -> u64 {
        ((seconds * 1e6 / self.micros) as u64).max(32)
    }

    /// A probe that tells whether the machine had two cores to give, if that matters. A pipeline that waits
    /// lets the cores go to sleep, so a probe would say no.
    pub fn probe(&self, unit: Work, seconds: f64) -> Option<Ceiling> {
        (!self.waits).then(|| Ceiling { work: unit, items: unit.items(seconds) })
    }

    /// Runs the pipeline. `unit` is the work of one microsecond.
    pub fn run(&self, unit: Work, items: u64, knobs: Knobs) -> Ran {
        let workers = knobs.workers.or(self.workers);
        (self.run)(&Job { unit, items, knobs: Knobs { workers, ..knobs } })
    }
}

impl Job {
    /// The items, with this many microseconds of work before each.
    fn source(&self, micros: f64) -> impl Iterator<Item = u64> + Send + use<> {
        (0..self.items).map(self.busy(micros))
    }

    /// This many microseconds of work.
    fn busy(&self, micros: f64) -> impl Fn(u64) -> u64 + Copy + Send + Sync + use<> {
        let work = self.unit.share(micros);
        move |item| work.run(item)
    }

    /// A stream of the items.
    fn read(&self, micros: f64) -> Stream<'static, u64> {
        Source::new(self.source(micros)).named("read").into_stream()
    }

    /// Runs a stream into a fold that takes this many microseconds an item.
    fn run(&self, stream: Stream<'_, u64>, micros: f64) -> Ran {
        self.run_into(stream, self.busy(micros))
    }

    /// Runs a stream into a fold.
    fn run_into(&self, mut stream: Stream<'_, u64>, sink: impl Fn(u64) -> u64 + Send) -> Ran {
        let Knobs { workers, window, burst, report, .. } = self.knobs;
        if let Some(workers) = workers {
            stream = stream.workers(workers);
        }
        if let Some(window) = window {
            stream = stream.window(window);
        }
        if let Some(burst) = burst {
            stream = stream.burst(burst);
        }
        let with = move |digest: Digest, item| digest.with(sink(item));
        let start = Instant::now();
        let slot = ReportSlot::new();
        let stream = if report { stream.report_to(&slot) } else { stream };
        let digest = stream.fold(Digest::EMPTY, with);
        Ran { seconds: start.elapsed().as_secs_f64(), digest, report: slot.take() }
    }
}

/// Sleeps.
fn nap(micros: u64) -> impl Fn(u64) -> u64 + Copy + Send + Sync {
    move |item| {
        sleep(Duration::from_micros(micros));
        item
    }
}

/// Selects one item in `count`.
fn one_in(count: u64) -> impl Fn(&u64) -> bool + Copy + Send + Sync {
    move |item| (item >> 17).is_multiple_of(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_change_nothing_but_time() {
        let unit = Work::calibrated(3, false);
        for line in all() {
            let run = |knobs| line.run(unit, 64, knobs);
            let plain = run(Knobs { workers: Some(1), ..Knobs::default() });
            let narrow = Knobs { window: Some(3), burst: Some(2), replicas: Some(2), ..Knobs::default() };
            assert_eq!(run(narrow).digest, plain.digest, "{}", line.name);
            assert_eq!(run(Knobs { report: true, ..Knobs::default() }).digest, plain.digest, "{}", line.name);
        }
    }

    #[test]
    fn every_line_has_a_name_of_its_own() {
        let mut names: Vec<&str> = all().map(|line| line.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn stages_that_bound_exist() {
        for line in all() {
            let ran = line.run(Work::calibrated(3, false), 32, Knobs { report: true, ..Knobs::default() });
            let report = ran.report.expect("it was asked for");
            let has = |name: &str| report.nodes().iter().any(|node| node.name == name);
            assert!(line.bound_by.is_empty() || has(line.bound_by), "{}: {}", line.name, line.bound_by);
        }
    }
}
