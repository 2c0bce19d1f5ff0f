//! The faults of a bzip2 file.

use thiserror::Error;

use crate::damage::{self, Place, Remedy};

/// The error of a bzip2 file that could not be decoded: the place, what was expected there, and what was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// A fault in a bzip2 file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file does not begin as a stream does: this is not bzip2.
    #[error("expected `BZh` and a digit from 1 to 9, found {}", found.escape_ascii())]
    Header {
        /// The first bytes, at most four.
        found: Vec<u8>,
    },
    /// The file ends inside a stream.
    #[error("expected more of the stream, found the end of the file")]
    Truncated,
    /// The next bits are neither the magic number of a block nor that of the end of the stream.
    #[error("expected the start of a block or the end of the stream, found other bits")]
    Magic,
    /// A block breaks the rules of the format.
    #[error("expected {expected}, found another value")]
    Block {
        /// The rule.
        expected: &'static str,
    },
    /// A block is larger than the stream's level allows.
    #[error("expected a block of at most {limit} bytes before runs are unpacked, found {found}")]
    Size {
        /// The largest size that the level allows, in bytes.
        limit: usize,
        /// The size of the block in bytes.
        found: usize,
    },
    /// The contents of a block do not match its checksum.
    #[error("expected a block with the CRC-32 {expected:08x}, found {found:08x}")]
    Checksum {
        /// The CRC-32 in the block's header.
        expected: u32,
        /// The CRC-32 of the block's contents.
        found: u32,
    },
    /// The checksum of each block is right, but that of the stream is not: a block is missing, or is not at its place.
    #[error("expected a stream with the checksum {expected:08x}, found {found:08x}")]
    StreamChecksum {
        /// The checksum at the end of the stream.
        expected: u32,
        /// The checksum of the blocks that were decoded.
        found: u32,
    },
    /// The bytes after the last stream are no stream. All before them is complete and correct.
    #[error("expected a stream or the end of the file, found other bytes")]
    TrailingGarbage,
}

impl damage::Fault for Fault {
    const PART: &str = "a block";

    fn remedy(&self, _place: Place) -> Remedy {
        match self {
            Fault::TrailingGarbage => Remedy::Ignore,
            Fault::Truncated => Remedy::Rest,
            _ => Remedy::AnotherCopy,
        }
    }
}
