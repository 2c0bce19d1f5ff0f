//! What can be wrong with a bzip2 file, and where.

use thiserror::Error;

use crate::damage::{self, Place, Remedy};

/// Why a bzip2 file could not be decoded: where, what was expected there, and what was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// What is wrong at a place in a bzip2 file.
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
    /// Neither a block nor the end of the stream follows.
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
        /// What the level allows.
        limit: usize,
        /// The size of the block.
        found: usize,
    },
    /// A block has other contents than its checksum says.
    #[error("expected a block with the CRC-32 {expected:08x}, found {found:08x}")]
    Checksum {
        /// What the block says.
        expected: u32,
        /// That of its contents.
        found: u32,
    },
    /// The blocks' checksums are right each, but not together: a block is missing, or is not at its place.
    #[error("expected a stream with the checksum {expected:08x}, found {found:08x}")]
    StreamChecksum {
        /// What the stream's end says.
        expected: u32,
        /// That of its blocks.
        found: u32,
    },
    /// After the last stream there is something else. All before it is whole and right.
    #[error("expected a stream or the end of the file, found other bytes")]
    TrailingGarbage,
    /// The same, and another block of a stream begins there: the file is damaged before it.
    #[error(
        "expected a stream or the end of the file, found other bytes, and the start of a block at byte {at}"
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
            Fault::Truncated => Remedy::Rest,
            _ => Remedy::AnotherCopy,
        }
    }
}
