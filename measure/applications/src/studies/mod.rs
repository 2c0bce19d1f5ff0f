//! Measures and experiments: the same program with several settings, all settings in the same rounds.
//!
//! A file has one study: its settings, and how the report shows them.

mod accelerator;
mod bursts;
mod compression;
mod contest;
mod memory;
mod operations;
mod order;
mod oversubscription;
mod prediction;
mod queue;
mod scaling;
mod skew;

use measure_harness::statistics::Summary;
use measure_programs::{Data, Scale};
use serde::{Deserialize, Serialize};

use crate::players::Figures;

pub use contest::measure;

/// A question, and what is measured to answer it.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations)] // it has functions
pub struct Study {
    /// The name on the command line.
    pub name: &'static str,
    /// The heading in the report.
    pub title: &'static str,
    /// What is measured and how to read it.
    pub what: &'static str,
    /// Whether it belongs to the experiments of the papers on FastFlow and SPar.
    pub is_experiment: bool,
    /// What is run.
    pub entries: fn(&Setup) -> Vec<Entry>,
    /// What is computed besides, if anything is.
    pub computed: fn(&Setup, &[Trial]) -> Vec<Trial>,
    /// The body of its section in the report.
    pub draw: fn(&Studied) -> String,
}

/// All studies in the order of the report.
pub const ALL: [Study; 10] = [
    order::STUDY,
    oversubscription::STUDY,
    scaling::STUDY,
    queue::STUDY,
    memory::STUDY,
    operations::STUDY,
    skew::STUDY,
    bursts::STUDY,
    accelerator::STUDY,
    compression::STUDY,
];

/// With what a study is made.
#[derive(Debug)]
pub struct Setup<'a> {
    pub scale: Scale,
    /// How many cores this process may use.
    pub cores: usize,
    /// The variants that are there, without the sequential program.
    pub variants: &'a [&'static str],
    /// The real data, if there are any.
    pub data: Option<&'a Data>,
}

impl Setup<'_> {
    fn has(&self, variant: &str) -> bool {
        self.variants.contains(&variant)
    }
}

/// A program with a setting.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The picture that shows it, if a study has several.
    pub panel: String,
    /// The line or the row of the picture.
    pub series: String,
    /// The place on the other axis.
    pub at: String,
    pub application: &'static str,
    pub workload: String,
    pub variant: &'static str,
    pub workers: usize,
}

/// What a program with a setting has shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trial {
    pub panel: String,
    pub series: String,
    pub at: String,
    pub workers: usize,
    /// How much work a run does, in the unit of the study.
    pub amount: f64,
    #[serde(flatten)]
    pub figures: Figures,
}

/// A study that was made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Studied {
    pub name: String,
    pub trials: Vec<Trial>,
    /// The programs that gave no numbers, and why.
    #[serde(default)]
    pub without: Vec<(String, String)>,
}

impl Studied {
    /// The study of a name.
    pub fn study(&self) -> Option<&'static Study> {
        ALL.iter().find(|study| study.name == self.name)
    }

    /// Whether everything that is run now was run.
    pub fn covers(&self, entries: &[Entry]) -> bool {
        let has = |entry: &Entry| {
            self.find(&entry.panel, &entry.series, &entry.at).is_some()
                || self.without.iter().any(|(name, _)| *name == entry.name())
        };
        entries.iter().all(has)
    }

    fn panels(&self) -> Vec<&str> {
        distinct(self.trials.iter().map(|trial| trial.panel.as_str()))
    }

    fn of_panel<'a>(&'a self, panel: &'a str) -> impl Iterator<Item = &'a Trial> {
        self.trials.iter().filter(move |trial| trial.panel == panel)
    }

    fn find(&self, panel: &str, series: &str, at: &str) -> Option<&Trial> {
        let is_it = |trial: &&Trial| trial.panel == panel && trial.series == series && trial.at == at;
        self.trials.iter().find(is_it)
    }
}

impl Trial {
    /// A value of each round, as a median with its interval.
    fn each(&self, value: impl Fn(f64) -> f64) -> Summary {
        Summary::of(self.figures.seconds.iter().map(|&seconds| value(seconds)))
    }

    /// The time for a unit of work, in nanoseconds.
    fn nanos(&self) -> Summary {
        self.each(|seconds| seconds * 1e9 / self.amount)
    }
}

/// Nothing is computed besides.
fn nothing(_: &Setup, _: &[Trial]) -> Vec<Trial> {
    Vec::new()
}

/// The values without repetition, in the order in which they come first.
fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
