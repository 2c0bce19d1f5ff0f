//! The experiments of the paper, measured on this machine: tables and pictures.
//!
//! All forms of a program run in turn, round after round, and ratios are taken within a round. The *ceiling* of
//! a round is the sequential form on two threads at once, each with its own input: what two threads can give at
//! most.

mod bursts;
pub mod command;
mod plot;
mod programs;
mod receivers;
mod rivals;
mod rounds;

use crate::Result;

pub use plot::{Line, Plot};
pub use rivals::Rivals;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// How often everything is measured.
    pub rounds: usize,
    /// How long one measurement of a sequential form takes, in microseconds.
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
    /// Block transforms, FM radio, 802.11a, JPEG, and every program with each number of workers
    Programs,
}

/// The tables as Markdown, and the pictures.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The text, which refers to the pictures by their names.
    pub text: String,
    /// The names and contents of the pictures, in the format SVG.
    pub pictures: Vec<(String, String)>,
}

impl Report {
    fn picture(&mut self, name: &str, plot: &Plot) {
        self.text.push_str(&format!("\n![{}]({name}.svg)\n", plot.title));
        self.pictures.push((format!("{name}.svg"), plot.svg()));
    }
}

/// Runs these parts of the experiments, with these rivals of the synthetic benchmark. `photo` is a JPEG file for the decoder, which
/// is left out without one. `told` is called with the name of each part before it is measured.
///
/// # Errors
/// If a network gives another result than its sequential form, or cannot run.
pub fn run(
    effort: Effort,
    parts: &[Part],
    rivals: &Rivals,
    photo: Option<&[u8]>,
    mut told: impl FnMut(&str),
) -> Result<Report> {
    let mut report = Report::default();
    let named: Vec<String> = parts.iter().map(|part| format!("{part:?}").to_lowercase()).collect();
    let is_all = parts == <Part as clap::ValueEnum>::value_variants();
    let only = if is_all { String::new() } else { format!(" --only {}", named.join(",")) };
    let processors = anabranch::default_workers();
    report.text.push_str(&format!(
        "# Experiments\n\nMade by `cargo run --release -p dsp -- experiments{}{only}`, on {processors} processors, in {} rounds. \
         Times are medians, and ratios are taken within a round.\n",
        if effort.is_quick { " --quick" } else { "" },
        effort.rounds,
    ));
    for part in parts {
        match part {
            Part::Bursts => bursts::run(effort, &mut report, &mut told)?,
            Part::Rivals => rivals::run(effort, rivals, &mut report, &mut told)?,
            Part::Programs => programs::run(effort, photo, &mut report, &mut told)?,
        }
    }
    Ok(report)
}
