//! What went wrong with one input, in words: what it is about, what was expected and found, and what to do.

use std::fmt;
use std::io;

use abz::Error;
use abz::gzip::{DecodeError, Fault, HeaderError};

/// A problem to be told. It ends the work on its input unless it comes after it.
#[derive(Debug)]
pub struct Problem {
    pub(super) severity: Severity,
    /// False of what is told after the work is done.
    pub(super) ends_work: bool,
    /// The file it is about, as the user named it.
    subject: String,
    message: String,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    /// Nothing to worry about.
    Note,
    /// Something was left undone, or is odd; no data is at stake.
    Warning,
    /// What was asked for failed.
    Error,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.message)
    }
}

impl Problem {
    pub(super) fn note(subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::new(Severity::Note, subject, message)
    }

    pub(super) fn warning(subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::new(Severity::Warning, subject, message)
    }

    pub(super) fn error(subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::new(Severity::Error, subject, message)
    }

    fn new(severity: Severity, subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Problem { severity, ends_work: true, subject: subject.to_string(), message: message.to_string() }
    }

    /// The same problem, told after the work is done.
    pub(super) fn afterwards(mut self) -> Self {
        self.ends_work = false;
        self
    }

    pub(super) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// A file could not be opened, made, renamed or the like.
    pub(super) fn of_file(subject: impl fmt::Display, doing: &str, error: &io::Error) -> Self {
        Self::error(subject, format_args!("{doing}: {error}{}", advice_on_io(error)))
    }

    /// A run failed.
    pub(super) fn of_run(input: &str, output: &str, error: &Error) -> Self {
        match error {
            Error::Read(cause) => Self::error(input, format_args!("{error}{}", advice_on_io(cause))),
            Error::Write(cause) => Self::error(output, format_args!("{error}{}", advice_on_io(cause))),
            Error::Decode(cause) => Self::error(input, format_args!("{cause}; {}", advice_on_data(cause))),
        }
    }

    /// A file has something after its last member.
    pub(super) fn trailing_garbage(input: &str, offset: u64) -> Self {
        Self::warning(
            input,
            format_args!(
                "at byte {offset}: expected the end of the file, found bytes that are not gzip; they were ignored, \
                 all before them is right"
            ),
        )
    }
}

/// What to do about a failed call of the system.
fn advice_on_io(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room there, or write elsewhere with -o"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; check the permissions of the file and its folder"
        }
        _ => "",
    }
}

/// What to do about a file that is not what it should be.
fn advice_on_data(error: &DecodeError) -> &'static str {
    match error.fault {
        Fault::Header(HeaderError::Magic { .. }) if error.member == 1 => {
            "this is not a gzip file, and abz reads no other"
        }
        Fault::Truncated { .. } | Fault::MissingMember => {
            "the file was cut short: get all of it (-dc gives what there is)"
        }
        _ => "the file is damaged there: get another copy (-dc gives what comes before)",
    }
}
