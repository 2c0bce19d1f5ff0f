//! The error of a signal program.

use std::fmt;
use std::io;

/// A result with the [`Error`] of a signal program.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a signal program has failed: the file, the offset in it, what was expected, and what to do.
#[derive(Debug)]
pub struct Error {
    file: Option<String>,
    offset: Option<u64>,
    what: String,
    source: Option<io::Error>,
}

impl Error {
    /// An error that concerns no file, for example an option with a value that is not possible. `what` says
    /// what was expected and what to do.
    pub fn new(what: impl Into<String>) -> Self {
        Self { file: None, offset: None, what: what.into(), source: None }
    }

    /// An error in the content of `file`, at `offset` bytes from its beginning.
    pub fn at(file: &str, offset: u64, what: impl Into<String>) -> Self {
        Self { file: Some(file.into()), offset: Some(offset), what: what.into(), source: None }
    }

    /// The system could not do what was asked of it: `what` says what that was, as in "cannot read".
    pub fn io(file: &str, what: &str, source: io::Error) -> Self {
        Self {
            file: Some(file.into()),
            offset: None,
            what: format!("{what}: {source}"),
            source: Some(source),
        }
    }

    /// The offset in the file, in bytes, if the error is in the content of a file.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// Whether the reader of a pipe has gone, so that nobody wants the rest of the output.
    pub fn is_broken_pipe(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        if let Some(offset) = self.offset {
            write!(f, "at byte {offset}: ")?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
