//! The faults of a file of an older format, and their places.

use thiserror::Error;

use crate::damage::{self, Place, Remedy};

/// The error of a file that could not be decoded: the place, what was expected there, and what was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// A fault in a file of an older format.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file does not begin with the magic bytes of its format.
    #[error("expected {expected}, found other bytes")]
    Magic {
        /// A description of the bytes with which files of the format begin.
        expected: &'static str,
    },
    /// The file ends too early.
    #[error("expected more of the compressed data, found the end of the file")]
    Truncated,
    /// A header breaks the rules of its format.
    #[error("expected {expected}, found another value")]
    Header {
        /// The rule.
        expected: &'static str,
    },
    /// The file is valid, but uses a feature that is not supported.
    #[error("expected {expected}")]
    Unsupported {
        /// A phrase that states what abz reads, and what the file has instead.
        expected: &'static str,
    },
    /// The data breaks the rules of deflate.
    #[error("expected deflate data, found invalid data")]
    Deflate,
    /// The contents have another size than the file states.
    #[error("expected {expected} bytes of contents (modulo 2^32), found {found}")]
    Length {
        /// The size that the file states, in bytes modulo 2^32.
        expected: u32,
        /// The size of the decoded contents, in bytes modulo 2^32.
        found: u32,
    },
    /// The contents do not match the CRC-32 in the file.
    #[error("expected contents with the CRC-32 {expected:08x}, found {found:08x}")]
    Checksum {
        /// The CRC-32 in the file.
        expected: u32,
        /// The CRC-32 of the decoded contents.
        found: u32,
    },
    /// The contents do not match the Adler-32 of the stream.
    #[error("expected contents with the Adler-32 {expected:08x}, found {found:08x}")]
    Adler {
        /// The Adler-32 in the stream.
        expected: u32,
        /// The Adler-32 of the decoded contents.
        found: u32,
    },
    /// Other bytes follow the end of the compressed data.
    #[error("expected the end of the file, found other bytes")]
    TrailingGarbage,
    /// Another stream of zlib follows, complete and correct. Readers of zlib stop before it.
    #[error("expected the end of the file, found another stream, whose contents would be lost")]
    AnotherStream,
    /// There is another file in the archive.
    #[error("expected one file in the archive, found another behind it; unzip takes all of them")]
    MoreFiles,
}

impl damage::Fault for Fault {
    fn remedy(&self, _place: Place) -> Remedy {
        match self {
            Fault::TrailingGarbage => Remedy::Ignore,
            Fault::AnotherStream => Remedy::LookBehind,
            Fault::Unsupported { .. } | Fault::MoreFiles => Remedy::AnotherProgram,
            Fault::Truncated => Remedy::Rest,
            _ => Remedy::AnotherCopy,
        }
    }
}
