//! What can be wrong with a gzip file, and where.

use std::io;

use thiserror::Error;

pub use crate::damage::MemberPart as Part;
use crate::damage::{self, Place, Remedy};
use crate::memory::NoMemory;

/// Why a gzip file could not be decoded: the place, what was expected there, and what was found.
///
/// If a checksum or a size is wrong, the offset is that of the field with the right one. If deflate data is damaged, it is that
/// of the byte before which the damage was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// What is wrong at a place in a gzip file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file could not be read.
    #[error("reading failed: {0}")]
    Io(#[source] io::Error),
    /// There is no valid member header.
    #[error(transparent)]
    Header(HeaderError),
    /// The file ends inside a member.
    #[error("expected more of the {inside}, found the end of the file")]
    Truncated {
        /// The part of the member that is not whole.
        inside: Part,
    },
    /// The file ends after a member that says that another one follows (see [`Extent::more`](super::Extent)).
    #[error("expected another member, as the last one says, found the end of the file")]
    MissingMember,
    /// The deflate data breaks the rules of RFC 1951.
    #[error("expected deflate data, found bytes that cannot be any")]
    Deflate,
    /// The contents have another CRC-32 than the trailer says.
    #[error("expected contents with the CRC-32 {expected:08x}, found {found:08x}")]
    Checksum {
        /// What the trailer says.
        expected: u32,
        /// That of the decoded contents.
        found: u32,
    },
    /// The contents have another size than the trailer says (both modulo 2^32, as gzip counts them).
    #[error("expected contents of {expected} bytes (modulo 2^32), found {found}")]
    Length {
        /// What the trailer says.
        expected: u32,
        /// The size of the decoded contents.
        found: u32,
    },
    /// The header and the trailer say different sizes of the contents.
    #[error("expected contents of {header} bytes by the header, found {trailer} in the trailer")]
    Disagreement {
        /// What the header's extra field says.
        header: u32,
        /// What the trailer says.
        trailer: u32,
    },
    /// The member ends elsewhere than its header says.
    #[error("expected a member of {expected} bytes by its header, found {found}")]
    MemberSize {
        /// What the header's extra field says, in bytes.
        expected: u64,
        /// The size of header, data and trailer as found, in bytes; if the header's number is too small for any
        /// member, the least that it could be.
        found: u64,
    },
    /// Behind a block there is neither the mark of the next one nor the end of the member.
    #[error("expected the mark of another block or the end of the member, found other bytes")]
    Mark,
    /// A block ends elsewhere than its mark says.
    #[error(
        "expected a block of {expected} bytes by its mark, found one that ends elsewhere (after {found})"
    )]
    BlockSize {
        /// The length that the mark tells, in bytes.
        expected: u64,
        /// After how many bytes it ends, or was found to go on.
        found: u64,
    },
    /// The system does not give the memory that the file asks for.
    #[error("{}", .0.for_a_file())]
    NoMemory(#[from] NoMemory),
    /// After the last member there is something that is neither a member nor padding with zeros.
    /// All members before it are whole and right.
    #[error("expected a member or the end of the file, found other bytes")]
    TrailingGarbage,
    /// The same, and another member begins there: the file is damaged before it.
    #[error(
        "expected a member or the end of the file, found other bytes, and the start of another member at byte {at}"
    )]
    Hidden {
        /// The offset of that start in the file.
        at: u64,
    },
}

impl damage::Fault for Fault {
    fn remedy(&self, place: Place) -> Remedy {
        match self {
            Fault::TrailingGarbage => Remedy::Ignore,
            Fault::Hidden { .. } => Remedy::LookBehind,
            Fault::Header(HeaderError::Magic { .. }) if place.start() == Some(0) => Remedy::AnotherFormat,
            Fault::Truncated { .. } | Fault::MissingMember => Remedy::Rest,
            Fault::NoMemory(_) => Remedy::Memory,
            _ => Remedy::AnotherCopy,
        }
    }

    fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Fault::Io(cause) => Some(cause.kind()),
            _ => None,
        }
    }

    fn into_read_error(self) -> Result<io::Error, Self> {
        match self {
            Fault::Io(error) => Ok(error),
            _ => Err(self),
        }
    }
}

/// Why bytes are not the header of a gzip member (RFC 1952, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The first two bytes are not `1f 8b`: this is not gzip.
    #[error("expected the gzip magic bytes 1f 8b, found {found:02x} for {expected:02x}")]
    Magic {
        /// The magic byte that should be there.
        expected: u8,
        /// The byte that is.
        found: u8,
    },
    /// The compression method is not 8 (deflate), the only one there is.
    #[error("expected compression method 8 (deflate), found {found}")]
    Method {
        /// The method's number.
        found: u8,
    },
    /// A flag is set that RFC 1952 reserves: what follows cannot be known.
    #[error("expected the reserved flags to be 0, found flags {found:#04x}")]
    ReservedFlags {
        /// All flags.
        found: u8,
    },
    /// The header has another CRC-16 than it says (FHCRC).
    #[error("expected a header with the CRC-16 {expected:04x}, found {found:04x}")]
    Checksum {
        /// What the header says.
        expected: u16,
        /// That of the header's bytes.
        found: u16,
    },
    /// The header is longer than [`HEADER_LIMIT`](super::HEADER_LIMIT).
    #[error("expected a header of at most {limit} bytes, found a longer one")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Why the index at the end of a file could not be used. The file may be whole nevertheless: the index only
/// says again what the members say.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The file could not be read.
    #[error("reading the index failed: {0}")]
    Io(#[from] io::Error),
    /// A part of the index is damaged, or contradicts the rest of the file.
    #[error("index part at byte {offset}: expected {expected}, found {found}")]
    Damaged {
        /// The offset of the part in the compressed file.
        offset: u64,
        /// What should be there.
        expected: &'static str,
        /// The number (a size, an offset, an ordinal, a checksum) that is there instead.
        found: u64,
    },
}
