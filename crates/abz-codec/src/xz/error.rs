//! The faults of an xz file.

use std::fmt;

use thiserror::Error;

use crate::damage::{self, Place, Remedy};
use crate::memory::NoMemory;

/// The error of an xz file that could not be decoded: the place, what was expected there, and what was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// A fault in an xz file.
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
    /// The CRC-32 of a part does not match the one stored in it.
    #[error("expected a {part} with the CRC-32 {expected:08x}, found {found:08x}")]
    Crc {
        /// The part.
        part: Part,
        /// The CRC-32 stored in the part.
        expected: u32,
        /// The CRC-32 of the part's bytes.
        found: u32,
    },
    /// A rule of the format is broken.
    #[error("expected {expected}, found something else")]
    Rule {
        /// The rule.
        expected: &'static str,
    },
    /// The file uses a value that the format reserves for extensions and that this crate does not know.
    #[error("expected {expected}, found an unknown one")]
    Unsupported {
        /// The supported values.
        expected: &'static str,
    },
    /// The dictionary is larger than the memory that there is, or that may be used.
    #[error("expected a dictionary that fits into the memory, found one of {dictionary} bytes")]
    Memory {
        /// The size of the dictionary in bytes.
        dictionary: u64,
    },
    /// The system does not provide the memory that the file needs.
    #[error("{}", .0.for_a_file())]
    NoMemory(#[from] NoMemory),
    /// The data breaks the rules of LZMA, or of a filter.
    #[error("expected compressed data, found invalid data")]
    Lzma,
    /// A size in a block differs from the one in its header or in the index.
    #[error("expected {what} of {expected} bytes, found {found}")]
    Size {
        /// The name of the size.
        what: &'static str,
        /// The stated size in bytes.
        expected: u64,
        /// The size that was found, in bytes. If it is only known to be too large, the smallest that it can be.
        found: u64,
    },
    /// The contents of a block do not match its check.
    #[error("expected contents with the {kind} {expected}, found {found}")]
    Check {
        /// The kind of the check.
        kind: super::Check,
        /// The check stored in the block, in hexadecimal digits.
        expected: String,
        /// The check of the decoded contents, in hexadecimal digits.
        found: String,
    },
    /// The bytes after the last stream are no stream. All before them is complete and correct.
    #[error("expected a stream or the end of the file, found other bytes")]
    TrailingGarbage,
}

impl damage::Fault for Fault {
    const PART: &str = "another stream";

    fn remedy(&self, _place: Place) -> Remedy {
        match self {
            Fault::TrailingGarbage => Remedy::Ignore,
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
    /// The sizes of all blocks.
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
