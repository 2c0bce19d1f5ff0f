//! Processes that measure themselves: each answers a line for each line that it is asked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A process that is asked line by line. It is killed when this is dropped: it has no state that could be lost.
#[derive(Debug)]
pub struct Process {
    child: Child,
    ask: ChildStdin,
    answers: Receiver<String>,
    /// Whether an answer did not come, so that a later one could be that of an earlier request.
    is_lost: bool,
}

impl Process {
    /// Starts a program.
    ///
    /// # Errors
    /// Why it cannot be started, with its name.
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
        Ok(Self { child, ask, answers, is_lost: false })
    }

    /// Reads the lines `NAME VERSION` with which a process says what it can run. They end with a line of one word, or an empty one.
    ///
    /// # Errors
    /// As for [`hear`](Self::hear).
    pub fn versions(&mut self, patience: Duration) -> Result<BTreeMap<String, String>, String> {
        let mut versions = BTreeMap::new();
        loop {
            let line = self.hear(patience)?;
            let Some((name, version)) = line.split_once(' ') else { return Ok(versions) };
            versions.insert(name.into(), version.into());
        }
    }

    /// Sends a line, and returns the answer.
    ///
    /// # Errors
    /// If the process has ended, has left a line unanswered before, or does not answer in time.
    pub fn ask(&mut self, line: &str, patience: Duration) -> Result<String, String> {
        if self.is_lost {
            return Err("the process did not answer before".into());
        }
        writeln!(self.ask, "{line}").map_err(|error| format!("its process has ended: {error}"))?;
        self.hear(patience)
    }

    /// Waits for a line.
    ///
    /// # Errors
    /// If the process has ended, or says nothing in time.
    pub fn hear(&mut self, patience: Duration) -> Result<String, String> {
        self.answers.recv_timeout(patience).map_err(|error| {
            self.is_lost = true;
            match error {
                RecvTimeoutError::Timeout => {
                    format!("it had not answered after {:.1} s, and was stopped", patience.as_secs_f64())
                }
                RecvTimeoutError::Disconnected => "its process has ended without an answer".into(),
            }
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
