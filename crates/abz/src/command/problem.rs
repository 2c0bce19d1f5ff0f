//! What went wrong with one input, in words: what it is about, what was expected and found, and what to do.

use std::fmt;
use std::io;

use abz::gzip::{Fault, HeaderError};
use abz::{Error, bzip2, gzip, legacy, lzip, xz, zstd};

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
            Error::Gzip(cause) => Self::damage(input, format_args!("{cause}; {}", advice_on_gzip(cause))),
            Error::Legacy(cause) => match &cause.fault {
                legacy::Fault::Unsupported { .. } | legacy::Fault::MoreFiles => Self::damage(input, cause),
                legacy::Fault::Truncated => Self::damage(input, format_args!("{cause}; {CUT}")),
                _ => Self::damage(input, format_args!("{cause}; {DAMAGED}")),
            },
            Error::Lzw(cause) => Self::damage(input, format_args!("{cause}; {DAMAGED}")),
            Error::Bzip2(cause) => Self::damage(input, format_args!("{cause}; {}", advice_on_bzip2(cause))),
            Error::Lzip(cause) => Self::damage(input, format_args!("{cause}; {}", advice_on_lzip(cause))),
            Error::Xz(cause) => Self::damage(input, format_args!("{cause}; {}", advice_on_xz(cause))),
            Error::Zstd(cause) => Self::damage(input, format_args!("{cause}; {}", advice_on_zstd(cause))),
            Error::Access(cause) => Self::damage(input, format_args!("{cause}; {MISPLACED}")),
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

/// What to do about a failed call of the system.
fn advice_on_io(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; make room there, or write elsewhere",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; check the permissions of the file and its folder"
        }
        _ => "",
    }
}

/// What to do about a gzip file that is not what it should be, or a file that is neither gzip nor anything else.
fn advice_on_gzip(error: &gzip::DecodeError) -> &'static str {
    match error.fault {
        Fault::Header(HeaderError::Magic { .. }) if error.member == 1 => {
            "this is a file of none of the formats that abz reads"
        }
        Fault::Truncated { .. } | Fault::MissingMember => CUT,
        _ => DAMAGED,
    }
}

/// What to do about a bzip2 file that is not what it should be.
fn advice_on_bzip2(error: &bzip2::DecodeError) -> &'static str {
    match error.fault {
        bzip2::Fault::Truncated => CUT,
        _ => DAMAGED,
    }
}

/// What to do about an lzip file that is not what it should be.
fn advice_on_lzip(error: &lzip::DecodeError) -> &'static str {
    match error.fault {
        lzip::Fault::Truncated { .. } => CUT,
        lzip::Fault::Version { .. } => "the file is damaged there, or of a version that abz does not know",
        lzip::Fault::Memory { .. } | lzip::Fault::NoMemory { .. } => {
            "this machine, or what you allow, is too small for it"
        }
        _ => DAMAGED,
    }
}

/// What to do about an xz file that is not what it should be.
fn advice_on_xz(error: &xz::DecodeError) -> &'static str {
    match error.fault {
        xz::Fault::Truncated { .. } => CUT,
        xz::Fault::Unsupported { .. } => "the file is damaged there, or of a kind that abz does not know",
        xz::Fault::Memory { .. } | xz::Fault::NoMemory { .. } => {
            "this machine, or what you allow, is too small for it"
        }
        _ => DAMAGED,
    }
}

/// What to do about a zstd file that is not what it should be, or needs something.
fn advice_on_zstd(error: &zstd::DecodeError) -> String {
    match error.fault {
        zstd::Fault::Truncated { .. } => CUT.into(),
        zstd::Fault::MemoryLimit { needed, .. } => {
            format!("if there is memory for that, allow it with --memlimit={}M", needed.div_ceil(1 << 20) + 1)
        }
        zstd::Fault::NoMemory { .. } => "this machine, or what you allow, is too small for it".into(),
        zstd::Fault::Dictionary { .. } => "name the file in which it is with -D".into(),
        zstd::Fault::Window { needed, .. } => {
            let log = needed.next_power_of_two().ilog2();
            format!("if there is memory for that, allow it with --long={log}")
        }
        _ => DAMAGED.into(),
    }
}

/// How standard input is called.
pub(super) const STANDARD_INPUT: &str = "standard input";

/// What is wrong with a standard stream that the program was started without.
pub(super) const CLOSED: &str = "is closed: the program was started without it";

const MISPLACED: &str = "the file is damaged there, or where it says where its parts are: -t finds out";
const CUT: &str = "the file was cut short: get all of it (-dc gives what there is)";
const DAMAGED: &str = "the file is damaged there: get another copy (-dc gives what comes before)";
