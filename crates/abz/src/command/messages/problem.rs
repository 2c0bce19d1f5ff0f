//! Messages about an input: the subject, what was expected and found, and what to do.

use std::fmt;
use std::io;

use abz::{Error, Remedy};
use rustix::io::Errno;

use super::options::{OWN, Options};
use crate::command::system::quote::without_controls;

/// A problem to be reported. It ends the work on its input unless [`ends_work`](Self::ends_work) is `false`.
#[derive(Debug)]
pub struct Problem {
    pub(crate) severity: Severity,
    /// `false` for a problem that is reported after the work is done.
    pub(crate) ends_work: bool,
    /// The message is that of gzip, preceded by an empty line.
    pub(crate) is_of_gzip: bool,
    /// The `errno` of a failed write to an output.
    pub(crate) of_writing: Option<i32>,
    /// The file, as the user named it.
    subject: String,
    message: String,
    advice: Option<Advice>,
}

/// Advice about a problem. Its options are spelled as in the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Advice {
    /// There is not enough memory: for a system call, to decompress a file, or to compress one.
    OneThread,
    LessToDecompress,
    LessToCompress,
    /// The memory limit is too low; this many MiB suffice.
    MemoryLimit(u64),
    /// The window is too large; allowing the logarithm of its size suffices.
    Window(u32),
    Dictionary,
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Information that is no cause for concern.
    Note,
    /// Something was not done, or is unusual; no data is at risk.
    Warning,
    /// The requested operation failed.
    Error,
    /// The operation failed because a compressed file is damaged.
    Damage,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(&OWN))
    }
}

impl Problem {
    pub(crate) fn warning(subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::new(Severity::Warning, subject, message)
    }

    pub(crate) fn error(subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::new(Severity::Error, subject, message)
    }

    pub(crate) fn damage(subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::new(Severity::Damage, subject, message)
    }

    pub(crate) fn new(severity: Severity, subject: impl fmt::Display, message: impl fmt::Display) -> Self {
        // Names in either could contain control characters for a terminal.
        let (subject, message) = (subject.to_string(), message.to_string());
        let (subject, message) = (without_controls(subject), without_controls(message));
        Problem {
            severity,
            ends_work: true,
            is_of_gzip: false,
            of_writing: None,
            subject,
            message,
            advice: None,
        }
    }

    /// Adds advice.
    fn with(self, advice: Option<Advice>) -> Self {
        Problem { advice, ..self }
    }

    /// Returns the message, with options spelled as in a tool.
    pub(crate) fn to_text(&self, options: &Options) -> String {
        let advice = self.advice.map(|advice| format!("; {}", advice.in_words(options)));
        format!("{}: {}{}", self.subject, self.message, advice.unwrap_or_default())
    }

    /// Creates a problem for a damaged file, in the words of gzip.
    pub(crate) fn of_gzip(input: &str, words: &str) -> Self {
        let subject = if input == STANDARD_INPUT { "stdin" } else { input };
        Problem { is_of_gzip: true, ..Self::damage(subject, words) }
    }

    /// Changes the severity.
    pub(crate) fn with_severity(self, severity: Severity) -> Self {
        Problem { severity, ..self }
    }

    /// Marks the problem as reported after the work is done.
    pub(crate) fn afterwards(mut self) -> Self {
        self.ends_work = false;
        self
    }

    pub(crate) fn is_error(&self) -> bool {
        matches!(self.severity, Severity::Error | Severity::Damage)
    }

    /// Creates a problem for a file that could not be opened, created, renamed or the like.
    pub(crate) fn of_file(subject: impl fmt::Display, doing: &str, error: &io::Error) -> Self {
        Self::error(subject, format_args!("{doing}: {error}")).on_io(error)
    }

    /// Creates a problem for a failed run.
    pub(crate) fn of_run(input: &str, output: &str, error: &Error) -> Self {
        match error {
            Error::Read(cause) => Self::error(input, error).on_io(cause),
            Error::Write(cause) => {
                Problem { of_writing: cause.raw_os_error(), ..Self::error(output, error).on_io(cause) }
            }
            Error::Damaged(damage) => match advice(damage.remedy()) {
                Ok(Some(advice)) => Self::damage(input, format_args!("{damage}; {advice}")),
                Ok(None) => Self::damage(input, damage),
                Err(advice) => Self::damage(input, damage).with(Some(advice)),
            },
            Error::Memory(cause) => Self::error(input, cause).with(Some(Advice::LessToCompress)),
            _ => Self::error(input, error),
        }
    }

    /// Creates a problem for an output that does not decompress to the input.
    pub(crate) fn of_verification(output: &str, found: &str) -> Self {
        Self::error(
            output,
            format_args!(
                "the output does not decompress to the input: {found}; the input is kept: try again, and if it happens \
                 again, test the memory of this machine, or report a fault of abz"
            ),
        )
    }

    /// Creates a problem for bytes after the last member.
    pub(crate) fn trailing_garbage(severity: Severity, input: &str, offset: u64) -> Self {
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

impl Problem {
    /// Adds advice about the failed system call.
    fn on_io(mut self, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                self.message += "; make room there, or write elsewhere";
            }
            io::ErrorKind::FileTooLarge => {
                self.message += "; the file system, or a limit (ulimit -f), allows no larger file there";
            }
            io::ErrorKind::OutOfMemory => self.advice = Some(Advice::OneThread),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                self.message += "; check the permissions of the file and its folder";
            }
            _ if is_of_limit(error) => {
                self.message += "; the limit of open files is reached: raise it (ulimit -n)";
            }
            _ => {}
        }
        self
    }
}

/// Returns `true` if the limit of open files of the process or the system is reached.
fn is_of_limit(error: &io::Error) -> bool {
    let limits = [Errno::MFILE, Errno::NFILE].map(|limit| limit.raw_os_error());
    error.raw_os_error().is_some_and(|error| limits.contains(&error))
}

impl Advice {
    fn in_words(self, options: &Options) -> String {
        let one_thread = options.threads.with(&1);
        match self {
            Advice::OneThread => format!("fewer threads need less memory ({one_thread})"),
            Advice::LessToDecompress => format!(
                "fewer threads take less ({one_thread}); if that is not enough, the file needs more memory \
                 than this machine has, or than you allow"
            ),
            Advice::LessToCompress => format!(
                "fewer threads ({one_thread}), a lower level or smaller blocks take less; {} chooses fewer threads itself",
                options.memory_to_compress
            ),
            Advice::MemoryLimit(limit) => {
                let option = options.memory_to_decompress.with(&format_args!("{limit}M"));
                format!("if there is memory for that, allow it with {option}")
            }
            Advice::Window(log) => {
                format!("if there is memory for that, allow it with {}", options.window.with(&log))
            }
            Advice::Dictionary => format!("name its file with {}", options.dictionary),
        }
    }
}

/// Returns advice about a damaged file. Returns `Ok(None)` if the error suffices, and `Err` if the advice names
/// options.
fn advice(remedy: Remedy) -> Result<Option<&'static str>, Advice> {
    Ok(Some(match remedy {
        Remedy::AnotherProgram => return Ok(None),
        Remedy::AnotherFormat => "abz does not support the format of this file",
        Remedy::Rest => "the file was cut short: get all of it (-dc writes what it can of the contents)",
        Remedy::KnownVersion => "the file is damaged there, or of a version that abz does not know",
        Remedy::KnownKind => "the file is damaged there, or of a kind that abz does not know",
        Remedy::RightPlace => {
            "the file is damaged there, or its record of where its parts are is wrong: -t shows which"
        }
        Remedy::LookBehind => {
            "the file is damaged there, or several were joined: get another copy (-dc writes what it can of the contents before, --recover, for most \
             formats, all that is undamaged)"
        }
        Remedy::RegularFile => {
            "a flushed member of this size can only be read from a regular file: save it to one"
        }
        Remedy::Memory => return Err(Advice::LessToDecompress),
        Remedy::Dictionary => return Err(Advice::Dictionary),
        Remedy::MemoryLimit { needed } => return Err(Advice::MemoryLimit(needed.div_ceil(1 << 20) + 1)),
        Remedy::Window { needed } => return Err(Advice::Window(needed.next_power_of_two().ilog2())),
        _ => "the file is damaged there: get another copy (-dc writes what it can of the contents before)",
    }))
}

/// The name of standard input in messages.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// The message for a standard stream that was closed when the program started.
pub(crate) const CLOSED: &str = "is closed: the program was started without it";

/// The message for a file that cannot be closed: the system has accepted the data before, but cannot store it.
pub(crate) const UNSTORED: &str = "cannot be closed, so it may be incomplete";
