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
    /// The contents are whole and right, and other bytes follow them. But another part begins among these, whose contents are
    /// lost to one who ignores them.
    LookBehind,
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
    /// The file is right, but has to be read twice: give it as a regular file, not by a pipe.
    RegularFile,
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

/// A kind of damage to a file of one format, without its place in the file.
pub trait Fault: Error + Send + Sync + 'static {
    /// Returns what the user can do about this fault if it is at `place`.
    fn remedy(&self, place: Place) -> Remedy;

    /// Returns the kind of the [`io::Error`] that this fault becomes, if the kind does not follow from the remedy.
    fn kind(&self) -> Option<io::ErrorKind> {
        None
    }

    /// Returns the error of the reader, if this fault is one. See [`Damage::into_read_error`].
    ///
    /// # Errors
    ///
    /// The fault itself, if the file is damaged and the reader did not fail.
    fn into_read_error(self) -> Result<io::Error, Self>
    where
        Self: Sized,
    {
        Err(self)
    }
}

/// Why a file could not be decoded: the place, what was expected there, and what was found. The faults of each format say
/// which byte `offset` is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}at byte {offset}: {fault}")]
pub struct DecodeError<F> {
    /// The part of the file that is damaged or that would be next.
    pub place: Place,
    /// The offset in the compressed file at which the fault lies, as far as it is known, in bytes.
    pub offset: u64,
    /// The kind of damage.
    #[source]
    pub fault: F,
}

impl<F> DecodeError<F> {
    /// Creates the error of a file that is a single stream.
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
            Remedy::KnownKind | Remedy::RegularFile => io::ErrorKind::Unsupported,
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
        /// The number of the member in the file.
        number: u64,
        /// The offset of its first byte in the compressed file.
        start: u64,
    },
    /// A frame of zstd.
    Frame {
        /// The number of the frame in the file. Skippable frames are not counted.
        number: u64,
        /// The offset of its first byte in the compressed file.
        start: u64,
    },
    /// A block of bzip2 or xz.
    Block {
        /// The number of the stream in the file.
        stream: u64,
        /// The number of the block in the stream.
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
    /// Writes the place as the beginning of a message: with a colon and a space, or nothing for a whole file.
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
