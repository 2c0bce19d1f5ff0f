//! What is wrong with a compressed file, whatever its format is.

use std::error::Error;
use std::fmt;
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

/// What can be wrong with a file of one format, wherever it is.
pub trait Fault: Error + Send + Sync + 'static {
    /// What can be done about it, if it was found there.
    fn remedy(&self, place: Place) -> Remedy;

    /// The kind of the [`io::Error`] that it becomes, if that does not follow from the remedy.
    fn kind(&self) -> Option<io::ErrorKind> {
        None
    }

    /// As [`Damage::into_read_error`].
    ///
    /// # Errors
    ///
    /// The fault, if it is one of the file.
    fn into_read_error(self) -> Result<io::Error, Self>
    where
        Self: Sized,
    {
        Err(self)
    }
}

/// Why a file could not be decoded: where, what was expected there, and what was found. Each format has [faults](Fault) of
/// its own, which say more of the offset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}at byte {offset}: {fault}")]
pub struct DecodeError<F> {
    /// The part of the file that is damaged or that would be next.
    pub place: Place,
    /// The offset in the compressed file at which the fault lies, as far as it is known, in bytes.
    pub offset: u64,
    /// What is wrong.
    #[source]
    pub fault: F,
}

impl<F> DecodeError<F> {
    /// That of a file that is one stream.
    pub(crate) fn at(offset: u64, fault: F) -> Self {
        DecodeError { place: Place::Whole, offset, fault }
    }
}

impl<F: Fault> Damage for DecodeError<F> {
    fn offset(&self) -> u64 {
        self.offset
    }

    fn remedy(&self) -> Remedy {
        self.fault.remedy(self.place)
    }

    fn into_read_error(self) -> Result<io::Error, Self> {
        let DecodeError { place, offset, fault } = self;
        fault.into_read_error().map_err(|fault| DecodeError { place, offset, fault })
    }
}

impl<F: Fault> From<DecodeError<F>> for io::Error {
    fn from(error: DecodeError<F>) -> Self {
        let kind = error.fault.kind().unwrap_or(match error.remedy() {
            Remedy::Rest => io::ErrorKind::UnexpectedEof,
            Remedy::Memory => io::ErrorKind::OutOfMemory,
            Remedy::KnownKind => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::InvalidData,
        });
        io::Error::new(kind, error)
    }
}

/// A part of a file in which something is wrong. All numbers are counted from 1, as people do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file that is one stream.
    Whole,
    /// A member of gzip or lzip.
    Member {
        /// Which of the file.
        number: u64,
        /// The offset of its first byte in the compressed file.
        start: u64,
    },
    /// A frame of zstd.
    Frame {
        /// Which of the file. Skippable frames are not counted.
        number: u64,
        /// The offset of its first byte in the compressed file.
        start: u64,
    },
    /// A block of bzip2 or xz.
    Block {
        /// The stream.
        stream: u64,
        /// Which of the stream.
        number: u64,
    },
}

impl Place {
    /// The offset of its first byte in the compressed file, if that is known.
    pub fn start(self) -> Option<u64> {
        match self {
            Place::Member { start, .. } | Place::Frame { start, .. } => Some(start),
            Place::Whole | Place::Block { .. } => None,
        }
    }
}

impl fmt::Display for Place {
    /// Writes it with what follows it before an offset.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Member { number, start } => write!(f, "member {number}, which begins at byte {start}: "),
            Place::Frame { number, start } => write!(f, "frame {number}, which begins at byte {start}: "),
            Place::Block { stream, number } => write!(f, "stream {stream}, block {number}: "),
        }
    }
}

/// A part of a member of gzip (RFC 1952, section 2.3) or lzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberPart {
    /// Magic bytes, flags, dictionary and so on.
    Header,
    /// The compressed data.
    Data,
    /// Checksum and sizes.
    Trailer,
}

impl fmt::Display for MemberPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemberPart::Header => "member's header",
            MemberPart::Data => "compressed data",
            MemberPart::Trailer => "member's trailer",
        })
    }
}
