//! The error of a run.

use std::borrow::Cow;
use std::error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use abz_codec::{Damage, NoMemory, Remedy};

/// The error of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The input could not be read.
    Read(io::Error),
    /// The compressed input is damaged. Input of no known format is reported as damaged gzip.
    Damaged(Box<dyn Damage>),
    /// The input of a [`Reader`](crate::Reader) is of no known format. The message says how it begins.
    Unknown(String),
    /// The input of a [`Reader`](crate::Reader) is empty, or ends within the first bytes of a known format.
    Short(String),
    /// The output could not be written.
    Write(io::Error),
    /// There is not enough memory for the encoders, with the given level, block size and number of workers.
    Memory(NoMemory),
    /// An earlier call of the same reader or writer has failed, with this message.
    Before(String),
    /// The error of reading the file of this name.
    File(PathBuf, Box<Error>),
}

impl Error {
    /// The damage of the input, if `E` is the error type of its format.
    ///
    /// ```
    /// use abz::{Decompression, Place, decompress, gzip};
    ///
    /// let error = decompress(&b"\x1f\x8b\x07"[..], Vec::new(), &Decompression::default()).unwrap_err();
    /// let error: &gzip::DecodeError = error.damage().expect("it begins like gzip");
    /// assert_eq!(error.place, Place::Member { number: 1, start: 0 });
    /// ```
    pub fn damage<E: Damage>(&self) -> Option<&E> {
        match self {
            Error::Damaged(damage) => (&**damage as &(dyn error::Error + 'static)).downcast_ref(),
            _ => None,
        }
    }

    /// The offset of trailing garbage in the input, if the decompression ignores that and nothing else is wrong. `is_loose` is the
    /// setting [`loose_trailing`](crate::Decompression::loose_trailing). All contents before it are right and have been written.
    pub(crate) fn is_garbage_at(&self, is_loose: bool) -> Option<u64> {
        let Error::Damaged(damage) = self else { return None };
        match damage.remedy() {
            Remedy::Ignore => Some(damage.offset()),
            Remedy::LookBehind if is_loose => Some(damage.offset()),
            _ => None,
        }
    }

    /// Returns true if the input has no bytes yet, so that the same call may be made again.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Error::Read(error) => is_passing(error),
            Error::File(_, error) => error.is_passing(),
            _ => false,
        }
    }

    /// The error of a stage that cuts or encodes input: a failed read, or too little memory for a block.
    pub(crate) fn of_input(error: io::Error) -> Self {
        match error.downcast::<NoMemory>() {
            Ok(error) => Error::Memory(error),
            Err(error) => Error::Read(error),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read(error) => write!(f, "reading failed: {error}"),
            Error::Damaged(damage) => damage.fmt(f),
            Error::Unknown(message) | Error::Short(message) => f.write_str(message),
            Error::Write(error) => write!(f, "writing failed: {error}"),
            Error::Memory(error) => error.fmt(f),
            Error::Before(message) => write!(f, "an earlier call has failed: {message}"),
            Error::File(name, error) => write!(f, "{}: {error}", name.display()),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Read(error) | Error::Write(error) => Some(error),
            Error::Damaged(damage) => damage.source(),
            Error::Memory(error) => Some(error),
            Error::Unknown(_) | Error::Short(_) | Error::Before(_) => None,
            Error::File(_, error) => Some(&**error),
        }
    }
}

/// An error with this one inside. Its kind is that of the error of the input or the output, or says that the input is
/// damaged ([`InvalidData`](io::ErrorKind::InvalidData)), ends too early
/// ([`UnexpectedEof`](io::ErrorKind::UnexpectedEof)), needs another program
/// ([`Unsupported`](io::ErrorKind::Unsupported)), or needs more memory ([`OutOfMemory`](io::ErrorKind::OutOfMemory)).
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = kind_of(&error);
        io::Error::new(kind, error)
    }
}

/// Returns true if a reader that gives this error has no bytes yet.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn kind_of(error: &Error) -> io::ErrorKind {
    match error {
        Error::Read(error) | Error::Write(error) => error.kind(),
        Error::Damaged(damage) => match damage.remedy() {
            Remedy::Rest => io::ErrorKind::UnexpectedEof,
            Remedy::AnotherProgram => io::ErrorKind::Unsupported,
            Remedy::Memory | Remedy::MemoryLimit { .. } | Remedy::Window { .. } => io::ErrorKind::OutOfMemory,
            _ => io::ErrorKind::InvalidData,
        },
        Error::Unknown(_) => io::ErrorKind::InvalidData,
        Error::Short(_) => io::ErrorKind::UnexpectedEof,
        Error::Memory(_) => io::ErrorKind::OutOfMemory,
        Error::Before(_) => io::ErrorKind::Other,
        Error::File(_, error) => kind_of(error),
    }
}

/// The error with which a reader or a writer has failed, if it has. After it, each call fails.
#[derive(Debug, Default)]
pub(crate) struct Failure(Option<(io::ErrorKind, Cow<'static, str>)>);

impl Failure {
    /// Returns true if a call has failed.
    pub(crate) fn has_happened(&self) -> bool {
        self.0.is_some()
    }

    /// Returns an error if an earlier call has failed.
    pub(crate) fn check(&self) -> io::Result<()> {
        match &self.0 {
            Some((kind, message)) => Err(io::Error::new(*kind, Error::Before(message.clone().into_owned()))),
            None => Ok(()),
        }
    }

    /// Records that a call fails with `error`, and returns it.
    pub(crate) fn record(&mut self, error: Error) -> io::Error {
        let error = io::Error::from(error);
        self.0 = Some((error.kind(), error.to_string().into()));
        error
    }

    /// Begins a call that may panic, as the inner writer may. Until it [ends](Self::end_call), it has failed.
    pub(crate) fn begin_call(&mut self) -> io::Result<()> {
        self.check()?;
        self.0 = Some((io::ErrorKind::Other, "it has panicked".into()));
        Ok(())
    }

    /// Ends a call that has not panicked.
    pub(crate) fn end_call(&mut self) {
        self.0 = None;
    }
}

impl<E: Damage> From<E> for Error {
    /// Returns [`Error::Read`] if reading failed, and [`Error::Damaged`] otherwise.
    fn from(error: E) -> Self {
        match error.into_read_error() {
            Ok(error) => Error::Read(error),
            Err(damage) => Error::Damaged(Box::new(damage)),
        }
    }
}
