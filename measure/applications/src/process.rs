//! Processes that run variants.

use std::process::Command;
use std::time::Duration;

use measure_programs::{Answer, GENERATED};

/// A run that takes longer than this has failed.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A process with one variant.
#[derive(Debug)]
pub struct Process {
    process: measure_harness::process::Process,
    /// How much work a run does, in the application's unit.
    pub amount: f64,
    /// The real data that the process has, or that they are generated.
    pub data: String,
}

impl Process {
    /// Starts a program that answers as `measure_programs::serve` does.
    ///
    /// # Errors
    /// Why it cannot run.
    pub fn start(command: Command) -> Result<Self, String> {
        let mut process = measure_harness::process::Process::start(command)?;
        let line = process.hear(PATIENCE)?;
        let ready =
            line.strip_prefix("ready ").map(|ready| ready.split_once(' ').unwrap_or((ready, GENERATED)));
        let amount = ready.and_then(|(amount, data)| Some((amount.parse().ok()?, data)));
        let (amount, data) = amount.ok_or_else(|| format!("it said `{line}` and not `ready`"))?;
        Ok(Self { process, amount, data: data.to_owned() })
    }

    /// Runs the variant once.
    ///
    /// # Errors
    /// If the process has ended, or takes too long.
    pub fn run(&mut self) -> Result<Answer, String> {
        self.run_within(PATIENCE)
    }

    fn run_within(&mut self, patience: Duration) -> Result<Answer, String> {
        let line = self.process.ask("run", patience)?;
        Answer::parse(&line).ok_or_else(|| format!("it answered `{line}`"))
    }

    /// Runs the variant once, and gives the process back if its output has this hash. A process that takes longer than
    /// `patience` is stopped.
    ///
    /// # Errors
    /// If it has another one, or the process has ended or was stopped.
    pub fn checked(mut self, expected: u64, patience: Duration) -> Result<Self, String> {
        let hash = self.run_within(patience.min(PATIENCE))?.hash;
        if hash == expected { Ok(self) } else { Err("WRONG: its output is not that of the loop".into()) }
    }
}
