//! What went wrong with one input, in words: what it is about, what was expected and found, and what to do.

use std::borrow::Cow;
use std::fmt;
use std::io;

use abz::{Error, Remedy};

use super::quote::without_controls;

/// A problem to be told. It ends the work on its input unless it comes after it.
#[derive(Debug)]
pub struct Problem {
    pub(super) severity: Severity,
    /// False of what is told after the work is done.
    pub(super) ends_work: bool,
    /// It is told in the words of gzip, with an empty line before.
    pub(super) is_of_gzip: bool,
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
    /// It failed because a compressed file is not what it should be.
    Damage,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.message)
    }
}

impl Problem {
    pub(super) fn warning(subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::new(Severity::Warning, subject, message)
    }

    pub(super) fn error(subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::new(Severity::Error, subject, message)
    }

    pub(super) fn damage(subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::new(Severity::Damage, subject, message)
    }

    pub(super) fn new(severity: Severity, subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        // Either may have a name in it that would do something to a terminal.
        let (subject, message) = (subject.to_string(), message.to_string());
        let (subject, message) = (without_controls(subject), without_controls(message));
        Problem { severity, ends_work: true, is_of_gzip: false, subject, message }
    }

    /// A damaged file, in the words of gzip.
    pub(super) fn of_gzip(input: &str, words: &str) -> Self {
        let subject = if input == STANDARD_INPUT { "stdin" } else { input };
        Problem { is_of_gzip: true, ..Self::damage(subject, words) }
    }

    /// The same problem, told after the work is done.
    pub(super) fn afterwards(mut self) -> Self {
        self.ends_work = false;
        self
    }

    pub(super) fn is_error(&self) -> bool {
        matches!(self.severity, Severity::Error | Severity::Damage)
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
            Error::Damaged(damage) => match advice(damage.remedy()) {
                Some(advice) => Self::damage(input, format_args!("{damage}; {advice}")),
                None => Self::damage(input, damage),
            },
            Error::Memory(cause) => Self::error(input, format_args!("{cause}; {LESS_ENCODING}")),
            _ => Self::error(input, error),
        }
    }

    /// What was written to `output` does not decompress to what was read.
    pub(super) fn of_verification(output: &str, found: &str) -> Self {
        Self::error(
            output,
            format_args!(
                "what was written is not what was read: {found}; the input is kept: try again, and if it happens \
                 again, test the memory of this machine, or report a fault of abz"
            ),
        )
    }

    /// A file has something after its last member.
    pub(super) fn trailing_garbage(severity: Severity, input: &str, offset: u64) -> Self {
        Self::new(
            severity,
            input,
            format_args!(
                "at byte {offset}: expected the end of the file, found bytes that are not compressed; they were ignored, \
                 all before them is right"
            ),
        )
    }
}

/// What to do where there is not enough memory to decompress a file, and to compress one.
const LESS_MEMORY: &str = "fewer threads take less (-p1); if that is not enough, this machine, or what you allow, is too small for it";
const LESS_ENCODING: &str =
    "fewer threads (-p1), a lower level or smaller blocks take less; --memlimit chooses fewer threads itself";

/// What to do about a failed call of the system.
fn advice_on_io(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; make room there, or write elsewhere",
        io::ErrorKind::OutOfMemory => "; fewer threads take less memory (-p1)",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; check the permissions of the file and its folder"
        }
        _ => "",
    }
}

/// What to do about a compressed file that is not what it should be, or needs something; `None` if its error says it.
fn advice(remedy: Remedy) -> Option<Cow<'static, str>> {
    let advice = match remedy {
        Remedy::AnotherProgram => return None,
        Remedy::AnotherFormat => "this is a file of none of the formats that abz reads",
        Remedy::Rest => "the file was cut short: get all of it (-dc gives what there is)",
        Remedy::KnownVersion => "the file is damaged there, or of a version that abz does not know",
        Remedy::KnownKind => "the file is damaged there, or of a kind that abz does not know",
        Remedy::RightPlace => "the file is damaged there, or where it says where its parts are: -t finds out",
        Remedy::Memory => LESS_MEMORY,
        Remedy::Dictionary => "name the file in which it is with -D",
        Remedy::MemoryLimit { needed } => {
            let limit = needed.div_ceil(1 << 20) + 1;
            return Some(format!("if there is memory for that, allow it with --memlimit={limit}M").into());
        }
        Remedy::Window { needed } => {
            let log = needed.next_power_of_two().ilog2();
            return Some(format!("if there is memory for that, allow it with --long={log}").into());
        }
        _ => "the file is damaged there: get another copy (-dc gives what comes before)",
    };
    Some(advice.into())
}

/// How standard input is called.
pub(super) const STANDARD_INPUT: &str = "standard input";

/// What is wrong with a standard stream that the program was started without.
pub(super) const CLOSED: &str = "is closed: the program was started without it";
