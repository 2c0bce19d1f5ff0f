//! What is wrong with a compressed file, whatever its format is.

use std::error::Error;
use std::io;

/// The error of a decoder: what is wrong with a compressed file, and where. Each format has its own, with all that it knows;
/// this is what a program asks of all of them.
pub trait Damage: Error + Send + Sync + 'static {
    /// The offset in the compressed file at which the fault lies, in bytes.
    fn offset(&self) -> u64;

    /// What can be done about it.
    fn remedy(&self) -> Remedy;

    /// The error of the reader, if the file could not be read and nothing is known to be wrong with it.
    ///
    /// # Errors
    ///
    /// The damage, if it is that.
    fn into_read_error(self) -> Result<io::Error, Self>
    where
        Self: Sized,
    {
        Err(self)
    }
}

/// What can be done about a file that could not be decoded to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Nothing need be done: the contents are whole and right, and other bytes follow them.
    Ignore,
    /// The file is of another format, or of none.
    AnotherFormat,
    /// The file is right, and has something that is not read. The error says what.
    AnotherProgram,
    /// The file is damaged: get another copy.
    AnotherCopy,
    /// The file was cut short: get all of it.
    Rest,
    /// The file is damaged, or of a version that is not known.
    KnownVersion,
    /// The file is damaged, or of a kind that is not known.
    KnownKind,
    /// What was said of the place of a part is wrong, or the part is damaged.
    RightPlace,
    /// There is not enough memory, or not enough is allowed.
    Memory,
    /// Allow this much memory, if there is so much.
    MemoryLimit {
        /// Bytes.
        needed: u64,
    },
    /// Allow a window of this size, if there is memory for it.
    Window {
        /// Bytes.
        needed: u64,
    },
    /// Give the dictionary with which the file was made.
    Dictionary,
}

/// An error of a decoder as one of a reader: of the kind that its remedy says, with all of it inside.
pub(crate) fn as_io_error<D: Damage>(error: D) -> io::Error {
    let kind = match error.remedy() {
        Remedy::Rest => io::ErrorKind::UnexpectedEof,
        Remedy::Memory => io::ErrorKind::OutOfMemory,
        Remedy::KnownKind => io::ErrorKind::Unsupported,
        _ => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, error)
}
