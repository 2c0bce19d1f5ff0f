//! A row for each system, and a finding for each experiment.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use measure_programs::contract::{Experiment, Finding};
use serde::{Deserialize, Serialize};

/// A system that takes longer than this for an experiment hangs. One that keeps the contract takes less than 2 s.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a system has shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// The name of the variant.
    pub system: String,
    /// The findings in the order of [`Experiment::ALL`].
    pub findings: Vec<Shown>,
}

/// A finding, as `results.json` has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shown {
    /// The name of the experiment.
    pub experiment: String,
    /// Whether the contract was kept.
    pub is_kept: bool,
    /// The number, with a few words.
    pub number: String,
}

impl Row {
    /// How many experiments the system has passed.
    pub fn kept(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_kept).count()
    }
}

/// Makes all experiments with a system, each in a process of its own.
pub fn examined(system: &str, command: impl Fn() -> Command) -> Row {
    let one = |experiment: Experiment| {
        let mut command = command();
        command.args(["contract", system, &experiment.word()]);
        let Finding { is_kept, number } = outcome(command);
        Shown { experiment: experiment.name().into(), is_kept, number }
    };
    Row { system: system.into(), findings: Experiment::ALL.into_iter().map(one).collect() }
}

fn outcome(mut command: Command) -> Finding {
    let broken = |number: String| Finding { is_kept: false, number };
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return broken(format!("does not start: {error}")),
    };
    match wait(&mut child) {
        Some(_) => {
            let mut said = String::new();
            // A process that has ended without a word has said nothing.
            let _ = child.stdout.take().map(|mut out| out.read_to_string(&mut said));
            Finding::parse(said.trim()).unwrap_or_else(|| broken("ends the process".into()))
        }
        None => broken(format!("hangs ({} s)", PATIENCE.as_secs())),
    }
}

/// Waits for the end, for a limited time.
fn wait(child: &mut Child) -> Option<()> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if child.try_wait().ok()?.is_some() {
            return Some(());
        }
        sleep(Duration::from_millis(5));
    }
    // It has no state that could be lost.
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// The table as text.
pub fn shown(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        text += &format!("{}: {} of {} kept\n", row.system, row.kept(), row.findings.len());
        for Shown { experiment, is_kept, number } in &row.findings {
            let mark = if *is_kept { "kept" } else { "BROKEN" };
            text += &format!("    {experiment:12}{mark:8}{number}\n");
        }
    }
    text
}
