//! The errors of decoders of all formats.

use std::error::Error;
use std::fmt;
use std::io;

/// The error of a decoder: the fault in a compressed file, and its place. Each format has its own error type with all
/// details; this trait has what a program needs of all of them.
pub trait Damage: Error + Send + Sync + 'static {
    /// Returns the offset of the fault in the compressed file, in bytes.
    fn offset(&self) -> u64;

    /// Returns the action that the user can take.
    fn remedy(&self) -> Remedy;

    /// Returns the error of the reader, if the file could not be read. Nothing is known to be wrong with the file then.
    ///
    /// # Errors
    ///
    /// The damage itself, if the file is damaged and the reader did not fail.
    fn into_read_error(self) -> Result<io::Error, Self>
    where
        Self: Sized,
    {
        Err(self)
    }
}

/// The action that a user can take for a file that could not be decoded to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Nothing: the contents are complete and correct, and other bytes follow them.
    Ignore,
    /// Look at the bytes that follow the contents. The contents are complete and correct, but another part begins among
    /// these bytes, and its contents are lost if they are ignored.
    LookBehind,
    /// Use a program for another format. The file is not of this one.
    AnotherFormat,
    /// Use another program. The file is valid, but this crate does not read one of its features; the error names it.
    AnotherProgram,
    /// The file is damaged: get another copy.
    AnotherCopy,
    /// The file was cut short: get all of it.
    Rest,
    /// The file is damaged, or of a version that is not known.
    KnownVersion,
    /// The file is damaged, or of a kind that is not known.
    KnownKind,
    /// Correct the stated place of the part, or get another copy: either the place is wrong or the part is damaged.
    RightPlace,
    /// Give the file as a regular file and not through a pipe. It is valid, but has to be read twice.
    RegularFile,
    /// Provide more memory, or allow more: there is not enough.
    Memory,
    /// Allow this much memory, if the machine has it.
    MemoryLimit {
        /// Bytes.
        needed: u64,
    },
    /// Allow a window of this size, if the machine has the memory.
    Window {
        /// Bytes.
        needed: u64,
    },
    /// Give the dictionary with which the file was made.
    Dictionary,
}

/// A kind of damage to a file of one format, without its place in the file.
pub trait Fault: Error + Send + Sync + 'static {
    /// The kinds of data that may begin in the bytes that follow the contents, such as `another member`.
    const PART: &str = "another part";

    /// Returns the action that the user can take if this fault is at `place`.
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

/// The error of a file that could not be decoded: the place, what was expected there, and what was found. The fault
/// types of the formats document which byte `offset` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError<F> {
    /// The part of the file that is damaged or that would be next.
    pub place: Place,
    /// The offset of the fault in the compressed file in bytes, as exactly as it is known.
    pub offset: u64,
    /// The kind of damage.
    pub fault: F,
    /// If other bytes follow the contents: the offset of another part that begins among them. The file is damaged before it then.
    pub hidden: Option<u64>,
}

impl<F> DecodeError<F> {
    /// Creates the error of a fault at this place.
    pub fn new(place: Place, offset: u64, fault: F) -> Self {
        DecodeError { place, offset, fault, hidden: None }
    }

    /// Creates the error of a file that is a single stream.
    pub(crate) fn at(offset: u64, fault: F) -> Self {
        DecodeError::new(Place::Whole, offset, fault)
    }

    /// Says that another part begins at byte `at`, among the bytes that follow the contents.
    pub(crate) fn hiding(self, at: u64) -> Self {
        DecodeError { hidden: Some(at), ..self }
    }
}

impl<F: Fault> fmt::Display for DecodeError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecodeError { place, offset, fault, hidden } = self;
        write!(f, "{place}at byte {offset}: {fault}")?;
        match hidden {
            Some(at) => write!(f, ", and the start of {} at byte {at}", F::PART),
            None => Ok(()),
        }
    }
}

impl<F: Fault> Error for DecodeError<F> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.fault)
    }
}

impl<F: Fault> Damage for DecodeError<F> {
    fn offset(&self) -> u64 {
        self.offset
    }

    fn remedy(&self) -> Remedy {
        match self.hidden {
            Some(_) => Remedy::LookBehind,
            None => self.fault.remedy(self.place),
        }
    }

    fn into_read_error(self) -> Result<io::Error, Self> {
        let DecodeError { place, offset, fault, hidden } = self;
        fault.into_read_error().map_err(|fault| DecodeError { place, offset, fault, hidden })
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

/// The part of a file that has a fault. All numbers are counted from 1.
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
    /// Returns the offset of the part's first byte in the compressed file, if it is known.
    pub fn start(self) -> Option<u64> {
        match self {
            Place::Member { start, .. } | Place::Frame { start, .. } => Some(start),
            Place::Whole | Place::Block { .. } => None,
        }
    }
}

impl fmt::Display for Place {
    /// Writes the place as the start of a message, followed by a colon and a space; nothing for a whole file.
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
    /// Magic bytes, version, flags, dictionary size and the like.
    Header,
    /// The compressed data.
    Data,
    /// Checksums and sizes.
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
