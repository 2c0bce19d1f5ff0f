//! The experiments of the paper, measured on this machine: tables and pictures.
//!
//! All forms of a program run in turn, round after round, and ratios are taken within a round. The *ceiling* of a round
//! is the sequential form on two threads at once, each with its own input. It is the most that two threads can give.

mod bursts;
pub mod command;
mod depend;
mod errors;
mod frames;
mod plot;
mod programs;
mod readme;
mod receivers;
mod rivals;
mod rounds;
mod subjects;

use clap::ValueEnum;

use dsp::Result;

pub use plot::{Axes, Line, Plot};
pub use readme::merged;
pub use rivals::{Rivals, synthetic};
pub use subjects::Subject;

/// The amount of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// The number of rounds.
    pub rounds: usize,
    /// The time of one measurement of a sequential form, in microseconds.
    pub microseconds: u64,
    /// Whether only some of the sizes and bursts are measured.
    pub is_quick: bool,
}

impl Effort {
    /// Takes a minute or two.
    pub const QUICK: Self = Self { rounds: 3, microseconds: 20_000, is_quick: true };
    /// Takes some twenty minutes.
    pub const FULL: Self = Self { rounds: 7, microseconds: 100_000, is_quick: false };
}

/// A part of the experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// How fine a burst of the synthetic benchmark may be
    Bursts,
    /// The smallest burst next to task systems and channels
    Rivals,
    /// Block transforms: by data, by stages and by both
    Fft,
    /// FM radio: its variants and its bursts
    Fmradio,
    /// The receiver for 802.11a: by tasks, by frames and by both
    Wifi,
    /// Bit-error rates of 802.11a over the ratio of signal to noise, next to theory
    Errors,
    /// The JPEG decoder over its bursts
    Jpeg,
    /// Block transforms and FM radio next to OpenMP tasks with depend
    Depend,
    /// The programs next to rayon by frame: speed, and the time of a frame
    Frames,
    /// Every program with each number of workers, next to predictions
    Workers,
}

impl Part {
    /// The name on the command line.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// The inputs of the parts besides the programs.
#[derive(Debug, Clone, Copy)]
pub struct Needs<'a> {
    /// The task systems and channels to compare with.
    pub rivals: &'a Rivals,
    /// A JPEG file for the decoder.
    pub photo: &'a [u8],
}

/// The tables as Markdown, and the pictures.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The text of each part, which refers to the pictures by their names.
    pub parts: Vec<(Part, String)>,
    /// The names and contents of the pictures, in the format SVG.
    pub pictures: Vec<(String, String)>,
    /// The text of the part that is measured.
    text: String,
}

impl Report {
    /// Adds a chart of lines over a logarithmic axis.
    fn lines(
        &mut self,
        name: &str,
        title: impl Into<String>,
        across: &'static str,
        up: &'static str,
        lines: Vec<Line>,
    ) {
        self.picture(name, &Plot { title: title.into(), axes: Axes::LogLinear, across, up, lines });
    }

    fn picture(&mut self, name: &str, plot: &Plot) {
        self.text.push_str(&format!("\n![{}]({name}.svg)\n", plot.title));
        self.pictures.push((format!("{name}.svg"), plot.svg()));
    }
}

/// Runs these parts of the experiments. `told` is called with the name of each step before it is measured.
///
/// # Errors
/// If a network gives another result than its sequential form, or cannot run.
pub fn run(effort: Effort, parts: &[Part], needs: &Needs<'_>, mut told: impl FnMut(&str)) -> Result<Report> {
    let mut report = Report::default();
    let Needs { rivals, photo } = *needs;
    for part in parts {
        let told = &mut told;
        match part {
            Part::Bursts => bursts::run(effort, &mut report, told)?,
            Part::Rivals => rivals::run(effort, rivals, &mut report, told)?,
            Part::Fft => programs::transforms(effort, &mut report, told)?,
            Part::Fmradio => programs::radio(effort, &mut report, told)?,
            Part::Wifi => receivers::wifi(effort, &mut report, told)?,
            Part::Errors => errors::run(effort, &mut report, told)?,
            Part::Jpeg => receivers::jpeg(effort, photo, &mut report, told)?,
            Part::Depend => depend::run(effort, rivals, &mut report, told)?,
            Part::Frames => frames::run(effort, rivals, photo, &mut report, told)?,
            Part::Workers => programs::workers(effort, photo, &mut report, told)?,
        }
        report.text.push_str(&format!(
            "\nMeasured by `experiments{} --only {}` on {}, in {} rounds.\n",
            if effort.is_quick { " --quick" } else { "" },
            part.name(),
            machine(),
            effort.rounds,
        ));
        report.parts.push((*part, std::mem::take(&mut report.text)));
    }
    Ok(report)
}

/// Returns the parts that `wanted` names, or all of them, each once and in order.
fn chosen(wanted: &[Part]) -> Vec<Part> {
    let all = Part::value_variants().iter().copied();
    all.filter(|part| wanted.is_empty() || wanted.contains(part)).collect()
}

/// Returns a description of this machine's processors.
fn machine() -> String {
    let count = anabranch::default_workers();
    let lines = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = lines.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or(format!("{count} processors"), |(_, model)| format!("{count} processors ({})", model.trim()))
}

/// Returns a check sum of the output of a program.
pub fn check_sum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
