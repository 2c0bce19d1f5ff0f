//! The faults of a gzip file.

use std::io;

use thiserror::Error;

pub use crate::damage::MemberPart as Part;
use crate::damage::{self, Place, Remedy};
use crate::memory::NoMemory;

/// The error of a gzip file that could not be decoded: the place, what was expected there, and what was found.
///
/// If a checksum or a size does not match, the offset is that of the field that states it. If deflate data is damaged,
/// the offset is that of the byte before which the damage was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// A fault in a gzip file.
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
    /// The file ends after a member whose header states that another one follows (see [`Extent::more`](super::Extent)).
    #[error("expected another member, as the last one says, found the end of the file")]
    MissingMember,
    /// The deflate data breaks the rules of RFC 1951.
    #[error("expected deflate data, found invalid data")]
    Deflate,
    /// The contents have another CRC-32 than the trailer states.
    #[error("expected contents with the CRC-32 {expected:08x}, found {found:08x}")]
    Checksum {
        /// The CRC-32 in the trailer.
        expected: u32,
        /// The CRC-32 of the decoded contents.
        found: u32,
    },
    /// The contents have another size than the trailer states (both modulo 2^32, as gzip counts).
    #[error("expected contents of {expected} bytes (modulo 2^32), found {found}")]
    Length {
        /// The size in the trailer.
        expected: u32,
        /// The size of the decoded contents.
        found: u32,
    },
    /// The header and the trailer state different sizes of the contents.
    #[error("expected contents of {header} bytes by the header, found {trailer} in the trailer")]
    Disagreement {
        /// The size in the header's extra field.
        header: u32,
        /// The size in the trailer.
        trailer: u32,
    },
    /// The member does not end where its header states.
    #[error("expected a member of {expected} bytes by its header, found {found}")]
    MemberSize {
        /// The size of the member in the header's extra field, in bytes.
        expected: u64,
        /// The size of header, data and trailer as found, in bytes; if the stated size is too small for any member, the
        /// smallest size that the member could have.
        found: u64,
    },
    /// The bytes behind a block are neither the mark of the next one nor the end of the member.
    #[error("expected the mark of another block or the end of the member, found other bytes")]
    Mark,
    /// A block does not end where its mark states.
    #[error(
        "expected a block of {expected} bytes by its mark, found one that ends elsewhere (after {found})"
    )]
    BlockSize {
        /// The length that the mark states, in bytes.
        expected: u64,
        /// The number of bytes after which the block ends or was found to go on.
        found: u64,
    },
    /// The system does not provide the memory that the file needs.
    #[error("{}", .0.for_a_file())]
    NoMemory(#[from] NoMemory),
    /// The bytes after the last member are neither a member nor padding with zeros. All members before them are
    /// complete and correct.
    #[error("expected a member or the end of the file, found other bytes")]
    TrailingGarbage,
}

impl damage::Fault for Fault {
    const PART: &str = "another member";

    fn remedy(&self, place: Place) -> Remedy {
        match self {
            Fault::TrailingGarbage => Remedy::Ignore,
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

/// The reason why bytes are not the header of a gzip member (RFC 1952, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The first two bytes are not `1f 8b`: this is not gzip.
    #[error("expected the gzip magic bytes 1f 8b, found {found:02x} for {expected:02x}")]
    Magic {
        /// The magic byte that was expected.
        expected: u8,
        /// The byte that was found.
        found: u8,
    },
    /// The compression method is not 8 (deflate), the only one that RFC 1952 defines.
    #[error("expected compression method 8 (deflate), found {found}")]
    Method {
        /// The number of the method.
        found: u8,
    },
    /// A flag is set that RFC 1952 reserves. It may change the meaning of the bytes that follow.
    #[error("expected the reserved flags to be 0, found flags {found:#04x}")]
    ReservedFlags {
        /// All flags.
        found: u8,
    },
    /// The header's CRC-16 does not match the one stored in it (FHCRC).
    #[error("expected a header with the CRC-16 {expected:04x}, found {found:04x}")]
    Checksum {
        /// The CRC-16 in the header.
        expected: u16,
        /// The CRC-16 of the header's bytes.
        found: u16,
    },
    /// The header is longer than [`HEADER_LIMIT`](super::HEADER_LIMIT).
    #[error("expected a header of at most {limit} bytes, found a longer one")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

/// The error of an index at the end of a file that could not be used. The file may be complete nevertheless: the index
/// only repeats what the members state.
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
        /// A description of what should be there.
        expected: &'static str,
        /// The number (a size, an offset, an ordinal, a checksum) that was found.
        found: u64,
    },
}
