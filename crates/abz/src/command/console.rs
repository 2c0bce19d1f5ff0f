//! What is told, and the status that the program exits with.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use super::problem::{Problem, Severity};

/// How much to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loudness {
    /// Errors.
    Quiet,
    /// Errors and warnings.
    Normal,
    /// These, and what was done.
    Verbose,
}

/// The exit status, as gzip has it; the worst that happened counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// All is well.
    Success,
    /// Something was not done or not as expected, and no data is at stake.
    Warning,
    /// Something failed.
    Error,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Success => 0,
            Status::Error => 1,
            Status::Warning => 2,
        })
    }
}

/// Standard error, and the status so far. A progress display would be owned by it, so that messages and bar do not
/// write over each other.
#[derive(Debug)]
pub struct Console {
    loudness: Loudness,
    status: Status,
}

impl Console {
    /// Nothing told yet.
    pub fn new(loudness: Loudness) -> Self {
        Console { loudness, status: Status::Success }
    }

    /// The worst that happened.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Tells a problem, and remembers its severity even if it is not to be told.
    pub fn tell(&mut self, problem: &Problem) {
        let (status, told) = match problem.severity {
            Severity::Note => (Status::Success, self.loudness > Loudness::Quiet),
            Severity::Warning => (Status::Warning, self.loudness > Loudness::Quiet),
            Severity::Error => (Status::Error, true),
        };
        self.status = self.status.max(status);
        if told {
            print(format_args!("abz: {problem}"));
        }
    }

    /// Tells what was done, if the user wants to hear it.
    pub(super) fn tell_done(&self, message: impl Display) {
        if self.loudness == Loudness::Verbose {
            print(message);
        }
    }
}

/// A line on standard error; if there is nobody to read it, nothing is left to be done.
fn print(message: impl Display) {
    let _ = writeln!(io::stderr(), "{message}");
}
