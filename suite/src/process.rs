//! Processes that run variants.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anabranch_applications::{Answer, GENERATED};

/// A run that takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(120);

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
    /// Starts a program that answers as `anabranch_applications::serve` does.
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
        let line = process.hear()?;
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
    /// If the process has ended.
    pub fn run(&mut self) -> Result<Answer, String> {
        writeln!(self.ask, "run").map_err(|error| format!("its process has ended: {error}"))?;
        let line = self.hear()?;
        Answer::parse(&line).ok_or_else(|| format!("it answered `{line}`"))
    }

    /// Runs the variant once, and gives the process back if its output has this hash.
    ///
    /// # Errors
    /// If it has another one, or the process has ended.
    pub fn checked(mut self, expected: u64) -> Result<Self, String> {
        let hash = self.run()?.hash;
        if hash == expected { Ok(self) } else { Err("WRONG: its output is not that of the loop".into()) }
    }

    fn hear(&mut self) -> Result<String, String> {
        self.answers.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("it has not answered for {} s", PATIENCE.as_secs()),
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
