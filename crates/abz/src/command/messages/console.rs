//! Messages on standard error, and the exit status.

use std::fmt::Display;
use std::process::ExitCode;

use super::problem::{Problem, Severity};
use super::progress::Progress;
use super::status::{Loudness, Status};
use crate::command::messages::{Message, Messages};
use crate::command::request::behaviour::Behaviour;
use crate::command::request::{Asked, Talk};
use crate::command::system::patient::tell;

/// Standard error, and the exit status so far. Hides the progress bar while it prints a message.
#[derive(Debug)]
pub struct Console {
    loudness: Loudness,
    behaviour: Behaviour,
    status: Status,
    /// The `errno` of the first failed write to an output.
    write_error: Option<i32>,
    progress: Progress,
}

impl Console {
    /// Creates a console that has printed nothing.
    pub fn new(asked: &Asked) -> Self {
        let Talk { loudness, behaviour, .. } = asked.talk;
        Console {
            loudness,
            behaviour,
            status: Status::Success,
            write_error: None,
            progress: Progress::hidden(),
        }
    }

    /// Shares the terminal with a progress bar from here on.
    pub(crate) fn share(&mut self, progress: Progress) {
        self.progress = progress;
    }

    /// Returns the exit status for the worst problem so far.
    pub fn exit_code(&self) -> ExitCode {
        match self.behaviour.write_status.zip(self.write_error) {
            Some((status, error)) => ExitCode::from(status(error)),
            None => self.behaviour.exit_code(self.status),
        }
    }

    /// Prints all messages about an input.
    pub(crate) fn tell(&mut self, messages: &Messages) {
        for message in messages.all() {
            match message {
                Message::Problem(problem) => self.tell_problem(problem),
                Message::Done(done) => self.print(done),
            }
        }
    }

    /// Prints a problem unless its severity is suppressed, and remembers its severity in any case.
    pub(crate) fn tell_problem(&mut self, problem: &Problem) {
        let least = match problem.severity {
            Severity::Note | Severity::Warning => Loudness::Normal,
            Severity::Error | Severity::Damage => Loudness::Quiet,
        };
        self.remember(problem.severity);
        self.write_error = self.write_error.or(problem.of_writing);
        if self.loudness >= least {
            let before = if problem.is_of_gzip { "\n" } else { "" };
            let problem = problem.to_text(&self.behaviour.options);
            self.print(format_args!("{before}{}: {problem}", self.behaviour.name));
        }
    }

    /// Raises the exit status to that of a problem of this severity.
    pub(crate) fn remember(&mut self, severity: Severity) {
        self.status = self.status.max(match severity {
            Severity::Note => Status::Success,
            Severity::Warning => Status::Warning,
            Severity::Error => Status::Error,
            Severity::Damage => Status::Damage,
        });
    }

    /// Prints text that the user requested.
    pub(crate) fn say(&self, text: &str) {
        self.print(text);
    }

    /// Prints a line on standard error.
    fn print(&self, message: impl Display) {
        self.progress.aside(|| tell(&format!("{message}\n")));
    }
}
