//! The faults of a Zstandard file.

use std::fmt;

use thiserror::Error;

use crate::damage::{self, Place, Remedy};
use crate::memory::NoMemory;

/// The error of a Zstandard file that could not be decoded: the place, what was expected there, and what was found.
///
/// If data is damaged, the offset is that of its block. If the contents do not match their checksum, it is that of the
/// checksum.
pub type DecodeError = damage::DecodeError<Fault>;

/// A fault in a Zstandard file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file does not begin as a frame does: this is not Zstandard.
    #[error("expected the zstd magic bytes 28 b5 2f fd, found {}", Hex(found))]
    Magic {
        /// The first bytes, at most four.
        found: Vec<u8>,
    },
    /// The file ends inside a frame.
    #[error("expected more of the {inside}, found the end of the file")]
    Truncated {
        /// The part of the frame that is not whole.
        inside: Part,
    },
    /// A header breaks the rules of the format.
    #[error("expected {expected}, found another value")]
    Header {
        /// The rule.
        expected: &'static str,
    },
    /// The data of a block breaks the rules of the format, or the contents do not have the size that the header states.
    #[error("expected a block of zstd data, found invalid data ({detail})")]
    Data {
        /// The error message of libzstd.
        detail: &'static str,
    },
    /// The contents do not match the checksum of the frame.
    #[error("expected contents with the checksum {expected:08x} (of XXH64), found others")]
    Checksum {
        /// The checksum in the frame.
        expected: u32,
    },
    /// The contents of a piece of the frame do not match the CRC-32 in its [mark](super).
    #[error("expected contents with the CRC-32 {expected:08x}, found others")]
    Piece {
        /// The CRC-32 in the mark.
        expected: u32,
    },
    /// The frame needs a dictionary that was not given.
    #[error("expected the dictionary with the number {needed}, found {}", Given(*given))]
    Dictionary {
        /// The number of the dictionary with which the frame was made.
        needed: u32,
        /// The number of the dictionary that was given, 0 if it has none; `None` if no dictionary was given.
        given: Option<u32>,
    },
    /// The frame's window is larger than the largest that is allowed.
    #[error("expected a window of at most {limit} bytes, found one of {needed}")]
    Window {
        /// The frame's window in bytes.
        needed: u64,
        /// The largest window that is allowed, in bytes.
        limit: u64,
    },
    /// The frame's window does not fit into the memory that may be used.
    #[error("expected a window that fits into {limit} bytes of memory, found one of {needed}")]
    MemoryLimit {
        /// The frame's window in bytes.
        needed: u64,
        /// The most memory that may be used, in bytes.
        limit: u64,
    },
    /// The system does not provide the memory that the file needs.
    #[error("{}", .0.for_a_file())]
    NoMemory(#[from] NoMemory),
    /// The bytes after the last frame are no frame. All before them is complete and correct.
    #[error("expected a frame or the end of the file, found other bytes")]
    TrailingGarbage,
}

impl damage::Fault for Fault {
    const PART: &str = "another frame";

    fn remedy(&self, _place: Place) -> Remedy {
        match self {
            Fault::TrailingGarbage => Remedy::Ignore,
            Fault::Truncated { .. } => Remedy::Rest,
            Fault::MemoryLimit { needed, .. } => Remedy::MemoryLimit { needed: *needed },
            Fault::NoMemory(_) => Remedy::Memory,
            Fault::Dictionary { .. } => Remedy::Dictionary,
            Fault::Window { needed, .. } => Remedy::Window { needed: *needed },
            _ => Remedy::AnotherCopy,
        }
    }
}

/// A part of a frame (RFC 8878, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Magic number, sizes and so on.
    Header,
    /// The blocks, and their headers.
    Blocks,
    /// The checksum.
    Checksum,
    /// A skippable frame.
    Skippable,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Header => "frame's header",
            Part::Blocks => "compressed data",
            Part::Checksum => "frame's checksum",
            Part::Skippable => "skippable frame",
        })
    }
}

/// Bytes as two hexadecimal digits each.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("the end of the file"),
            [first, rest @ ..] => {
                write!(f, "{first:02x}")?;
                rest.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
            }
        }
    }
}

/// The number of the dictionary that was given, if one was.
struct Given(Option<u32>);

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none"),
            Some(0) => f.write_str("one without a number"),
            Some(number) => write!(f, "the one with the number {number}"),
        }
    }
}

/// The error code of libzstd (`zstd_errors.h`) of memory that it could not have.
pub(super) const MEMORY: usize = 64;

/// Returns the error of libzstd, which can only be missing memory for its tables of about `tables` bytes.
///
/// # Panics
///
/// If it is another error.
pub(super) fn no_memory(code: usize, tables: usize) -> NoMemory {
    assert!(code.wrapping_neg() == MEMORY, "any data can be encoded: {}", zstd_safe::get_error_name(code));
    NoMemory { needed: (1 << 20) + tables as u64 }
}
