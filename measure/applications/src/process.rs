//! Processes that run variants.

use std::process::Command;
use std::time::Duration;

use measure_harness::rival::{PATIENCE, Rival};
use measure_programs::GENERATED;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The hash of the output.
    pub hash: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The time from the beginning to the first result, in seconds.
    pub first: f64,
    /// The processor time of all threads, in seconds. NaN if the system does not tell.
    pub processor: f64,
    /// The peak of the memory in all runs so far, without the data, in bytes. NaN if the system does not tell.
    pub memory: f64,
}

/// A process with one variant.
#[derive(Debug)]
pub struct Process {
    rival: Rival,
    /// How much work a run does, in the application's unit.
    pub amount: f64,
    /// The real data that the process has, or that they are generated.
    pub data: String,
}

impl Process {
    /// Starts a program that answers as [`measure_programs::serve`] does.
    ///
    /// # Errors
    /// Why it cannot run.
    pub fn start(command: Command) -> Result<Self, String> {
        let rival = Rival::start(command)?;
        let (amount, data) = rival.said.split_once(' ').unwrap_or((&rival.said, GENERATED));
        let data = data.to_owned();
        let amount = amount.parse().map_err(|_| format!("it said `ready {}`", rival.said))?;
        Ok(Self { rival, amount, data })
    }

    /// The name of the variant, and its version.
    pub fn version(&self) -> String {
        let name = |(name, version): (&String, &String)| format!("{name} {version}");
        self.rival.versions.iter().map(name).collect()
    }

    /// Runs the variant once.
    ///
    /// # Errors
    /// If the process has ended, or takes too long.
    pub fn run(&mut self) -> Result<Answer, String> {
        self.run_within(PATIENCE)
    }

    fn run_within(&mut self, patience: Duration) -> Result<Answer, String> {
        let variant = self.rival.versions.keys().next().cloned().unwrap_or_default();
        let answer = self.rival.ask(&variant, patience)?;
        let [first, processor, memory] = answer.more[..] else {
            return Err(format!("it answered `{answer}`"));
        };
        Ok(Answer { hash: answer.digest, seconds: answer.seconds, first, processor, memory })
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
