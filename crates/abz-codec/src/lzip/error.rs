//! The faults of an lzip file.

use thiserror::Error;

pub use crate::damage::MemberPart as Part;
use crate::damage::{self, Place, Remedy};
use crate::memory::NoMemory;

/// The error of an lzip file that could not be decoded: the place, what was expected there, and what was found.
///
/// If a checksum or a size does not match, the offset is that of the field that states it. If LZMA data is damaged, the
/// offset is that of the byte before which the damage was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// A fault in an lzip file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file does not begin as a member does: this is not lzip.
    #[error("expected `LZIP`, found {}", found.escape_ascii())]
    Magic {
        /// The first bytes, at most four.
        found: Vec<u8>,
    },
    /// The bytes behind a member are so similar to a header that they are taken for a damaged one, not for trailing
    /// data.
    #[error("expected `LZIP`, found {}: that is a damaged header", found.escape_ascii())]
    DamagedHeader {
        /// The four bytes.
        found: Vec<u8>,
    },
    /// The version is neither 1 nor 0 (used in 2008).
    #[error("expected version 1 of the format, found {found}")]
    Version {
        /// The version's number.
        found: u8,
    },
    /// The code of the dictionary size is not valid: sizes are 4 KiB to 512 MiB.
    #[error("expected the code of a dictionary's size from 4 KiB to 512 MiB, found {code:#04x}")]
    Dictionary {
        /// The coded size.
        code: u8,
    },
    /// The dictionary is larger than the memory that there is, or that may be used.
    #[error("expected a dictionary that fits into the memory, found one of {dictionary} bytes")]
    Memory {
        /// The size of the dictionary in bytes.
        dictionary: u32,
    },
    /// The system does not provide the memory that the file needs.
    #[error("{}", .0.for_a_file())]
    NoMemory(#[from] NoMemory),
    /// The file ends inside a member.
    #[error("expected more of the {inside}, found the end of the file")]
    Truncated {
        /// The part of the member that is not whole.
        inside: Part,
    },
    /// The data breaks the rules of LZMA.
    #[error("expected LZMA data, found invalid data")]
    Lzma,
    /// The LZMA data does not end where the trailer of the member begins.
    #[error("expected the end of the LZMA data, found more of it")]
    Endless,
    /// A member that is too large to be held has its first sync flush marker behind the bytes that were held. Without
    /// [`Strictness::late_flushes`](super::Strictness::late_flushes) decoding stops here. The offset is that of the
    /// byte behind the marker.
    #[error("expected the end of a member that is too large to be held, found a flush in it")]
    LateFlush,
    /// The contents have another CRC-32 than the trailer states.
    #[error("expected contents with the CRC-32 {expected:08x}, found {found:08x}")]
    Checksum {
        /// The CRC-32 in the trailer.
        expected: u32,
        /// The CRC-32 of the decoded contents.
        found: u32,
    },
    /// The contents have another size than the trailer states.
    #[error("expected contents of {expected} bytes, found {found}")]
    DataSize {
        /// The size in the trailer, in bytes.
        expected: u64,
        /// The size of the decoded contents in bytes.
        found: u64,
    },
    /// The member has another size than its trailer states.
    #[error("expected a member of {expected} bytes by its trailer, found {found}")]
    MemberSize {
        /// The size of the member in the trailer, in bytes.
        expected: u64,
        /// The size of header, data and trailer as found, in bytes.
        found: u64,
    },
    /// A member has no contents, and [`Strictness::empty`](super::Strictness) forbids that.
    #[error("expected contents, found an empty member")]
    Empty,
    /// The first byte of the LZMA data is not zero, and [`Strictness::marking`](super::Strictness) forbids that.
    #[error("expected a zero as the first byte of the LZMA data, found {found:#04x}")]
    Marking {
        /// The byte that was found.
        found: u8,
    },
    /// The bytes after the last member are no member. All before them is complete and correct.
    #[error("expected a member or the end of the file, found other bytes")]
    TrailingGarbage,
}

impl damage::Fault for Fault {
    const PART: &str = "another member";

    fn remedy(&self, _place: Place) -> Remedy {
        match self {
            Fault::TrailingGarbage => Remedy::Ignore,
            Fault::Truncated { .. } => Remedy::Rest,
            Fault::Version { .. } => Remedy::KnownVersion,
            Fault::LateFlush => Remedy::RegularFile,
            Fault::Memory { .. } | Fault::NoMemory(_) => Remedy::Memory,
            _ => Remedy::AnotherCopy,
        }
    }
}
