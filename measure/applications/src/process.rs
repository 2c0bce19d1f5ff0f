//! Processes that run variants.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use measure_programs::{Answer, GENERATED};

/// A run that takes longer than this has failed.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A process with one variant.
#[derive(Debug)]
pub struct Process {
    child: Child,
    ask: ChildStdin,
    answers: Receiver<String>,
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
    pub fn start(mut command: Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
        let ask = child.stdin.take().expect("it is piped");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let (sender, answers) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut process = Self { child, ask, answers, amount: 0.0, data: GENERATED.into() };
        let line = process.hear(PATIENCE)?;
        let ready =
            line.strip_prefix("ready ").map(|ready| ready.split_once(' ').unwrap_or((ready, GENERATED)));
        let amount = ready.and_then(|(amount, data)| Some((amount.parse().ok()?, data)));
        let (amount, data) = amount.ok_or_else(|| format!("it said `{line}` and not `ready`"))?;
        (process.amount, process.data) = (amount, data.to_owned());
        Ok(process)
    }

    /// Runs the variant once.
    ///
    /// # Errors
    /// If the process has ended, or takes too long.
    pub fn run(&mut self) -> Result<Answer, String> {
        self.run_within(PATIENCE)
    }

    fn run_within(&mut self, patience: Duration) -> Result<Answer, String> {
        writeln!(self.ask, "run").map_err(|error| format!("its process has ended: {error}"))?;
        let line = self.hear(patience)?;
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

    fn hear(&mut self, patience: Duration) -> Result<String, String> {
        self.answers.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                format!("it had not answered after {:.1} s, and was stopped", patience.as_secs_f64())
            }
            RecvTimeoutError::Disconnected => "its process has ended without an answer".into(),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process has no state that could be lost.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
