//! What can be wrong with an lzip file, and where.

use thiserror::Error;

pub use crate::damage::MemberPart as Part;
use crate::damage::{self, Place, Remedy};
use crate::memory::NoMemory;

/// Why an lzip file could not be decoded: the place, what was expected there, and what was found.
///
/// If a checksum or a size is wrong, the offset is that of the field with the right one. If LZMA data is damaged, it is that
/// of the byte before which the damage was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// What is wrong at a place in an lzip file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file does not begin as a member does: this is not lzip.
    #[error("expected `LZIP`, found {}", found.escape_ascii())]
    Magic {
        /// The first bytes, at most four.
        found: Vec<u8>,
    },
    /// What follows a member is like a header, but is none: a damaged one, and no trailing data.
    #[error("expected `LZIP`, found {}: that is a damaged header", found.escape_ascii())]
    DamagedHeader {
        /// The four bytes.
        found: Vec<u8>,
    },
    /// The version is neither 1 nor 0, the one of 2008.
    #[error("expected version 1 of the format, found {found}")]
    Version {
        /// The version's number.
        found: u8,
    },
    /// The dictionary has a size that it cannot have: it is 4 KiB to 512 MiB.
    #[error("expected the code of a dictionary's size from 4 KiB to 512 MiB, found {code:#04x}")]
    Dictionary {
        /// The coded size.
        code: u8,
    },
    /// The dictionary is larger than there is memory for, or than may be used.
    #[error("expected a dictionary that fits into the memory, found one of {dictionary} bytes")]
    Memory {
        /// The size of the dictionary in bytes.
        dictionary: u32,
    },
    /// The system does not give the memory that the file asks for.
    #[error("{}", .0.for_a_file())]
    NoMemory(#[from] NoMemory),
    /// The file ends inside a member.
    #[error("expected more of the {inside}, found the end of the file")]
    Truncated {
        /// The part of the member that is not whole.
        inside: Part,
    },
    /// The data breaks the rules of LZMA.
    #[error("expected LZMA data, found bytes that cannot be any")]
    Lzma,
    /// The data has no end where the member has its trailer.
    #[error("expected the end of the LZMA data, found more of it")]
    Endless,
    /// A member that is too large to be held has a sync flush marker, and none in the bytes that were held. Without
    /// [`Strictness::late_flushes`](super::Strictness::late_flushes) its contents are not decoded any further. The offset is
    /// that of the byte behind the marker.
    #[error("expected the end of a member that is too large to be held, found a flush in it")]
    LateFlush,
    /// The contents have another CRC-32 than the trailer says.
    #[error("expected contents with the CRC-32 {expected:08x}, found {found:08x}")]
    Checksum {
        /// What the trailer says.
        expected: u32,
        /// That of the decoded contents.
        found: u32,
    },
    /// The contents have another size than the trailer says.
    #[error("expected contents of {expected} bytes, found {found}")]
    DataSize {
        /// What the trailer says.
        expected: u64,
        /// The size of the decoded contents.
        found: u64,
    },
    /// The member has another size than its trailer says.
    #[error("expected a member of {expected} bytes by its trailer, found {found}")]
    MemberSize {
        /// What the trailer says, in bytes.
        expected: u64,
        /// The size of header, data and trailer as found, in bytes.
        found: u64,
    },
    /// A member has no contents, where [`Strictness::empty`](super::Strictness) forbids it.
    #[error("expected contents, found an empty member")]
    Empty,
    /// The first byte of the LZMA data is not zero, where [`Strictness::marking`](super::Strictness) forbids it.
    #[error("expected a zero as the first byte of the LZMA data, found {found:#04x}")]
    Marking {
        /// The byte.
        found: u8,
    },
    /// After the last member there is something else. All before it is whole and right.
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
    fn remedy(&self, _place: Place) -> Remedy {
        match self {
            Fault::TrailingGarbage => Remedy::Ignore,
            Fault::Hidden { .. } => Remedy::LookBehind,
            Fault::Truncated { .. } => Remedy::Rest,
            Fault::Version { .. } => Remedy::KnownVersion,
            Fault::LateFlush => Remedy::RegularFile,
            Fault::Memory { .. } | Fault::NoMemory(_) => Remedy::Memory,
            _ => Remedy::AnotherCopy,
        }
    }
}
