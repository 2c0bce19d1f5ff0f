//! What can be wrong with an xz file, and where.

use std::fmt;

use thiserror::Error;

use crate::damage::{self, Place, Remedy};
use crate::memory::NoMemory;

/// Why an xz file could not be decoded: where, what was expected there, and what was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// What is wrong at a place in an xz file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file does not begin as a stream does: this is not xz.
    #[error("expected `\\xfd7zXZ\\x00`, found {}", found.escape_ascii())]
    Magic {
        /// The first bytes, at most six.
        found: Vec<u8>,
    },
    /// The file ends inside a stream.
    #[error("expected more of the {inside}, found the end of the file")]
    Truncated {
        /// The part of the stream that is not whole.
        inside: Part,
    },
    /// A part has another CRC-32 than it says.
    #[error("expected a {part} with the CRC-32 {expected:08x}, found {found:08x}")]
    Crc {
        /// The part.
        part: Part,
        /// What it says.
        expected: u32,
        /// That of its bytes.
        found: u32,
    },
    /// A rule of the format is broken.
    #[error("expected {expected}, found something else")]
    Rule {
        /// The rule.
        expected: &'static str,
    },
    /// Something that the format has room for, and that nobody has filled yet.
    #[error("expected {expected}, found one that is not known here")]
    Unsupported {
        /// What is.
        expected: &'static str,
    },
    /// The dictionary is larger than there is memory for, or than may be used.
    #[error("expected a dictionary that fits into the memory, found one of {dictionary} bytes")]
    Memory {
        /// The size of the dictionary in bytes.
        dictionary: u64,
    },
    /// The system does not give the memory that the file asks for.
    #[error("{}", .0.for_a_file())]
    NoMemory(#[from] NoMemory),
    /// The data breaks the rules of LZMA, or of a filter.
    #[error("expected compressed data, found bytes that cannot be any")]
    Lzma,
    /// A block has another size than its header, or the index, says.
    #[error("expected {what} of {expected} bytes, found {found}")]
    Size {
        /// Which size.
        what: &'static str,
        /// What is said.
        expected: u64,
        /// What is there; where it is only known to be too much, the least that it can be.
        found: u64,
    },
    /// A block has other contents than its check says.
    #[error("expected contents with the {kind} {expected}, found {found}")]
    Check {
        /// The kind of the check.
        kind: super::Check,
        /// What the block says, in hexadecimal digits.
        expected: String,
        /// That of its contents.
        found: String,
    },
    /// After the last stream there is something else. All before it is whole and right.
    #[error("expected a stream or the end of the file, found other bytes")]
    TrailingGarbage,
    /// The same, and another stream begins there: the file is damaged before it.
    #[error(
        "expected a stream or the end of the file, found other bytes, and the start of another stream at byte {at}"
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
            Fault::Unsupported { .. } => Remedy::KnownKind,
            Fault::Memory { .. } | Fault::NoMemory { .. } => Remedy::Memory,
            _ => Remedy::AnotherCopy,
        }
    }
}

/// A part of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Magic bytes and flags.
    Header,
    /// Sizes and filters of a block.
    BlockHeader,
    /// Compressed data.
    Data,
    /// Padding and check of a block.
    Check,
    /// What says the sizes of all blocks.
    Index,
    /// Flags and magic bytes.
    Footer,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Header => "stream's header",
            Part::BlockHeader => "block's header",
            Part::Data => "compressed data",
            Part::Check => "block's check",
            Part::Index => "index",
            Part::Footer => "stream's footer",
        })
    }
}
