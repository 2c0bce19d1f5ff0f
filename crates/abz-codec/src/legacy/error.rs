//! The faults of a file of an older format, and their places.

use thiserror::Error;

use crate::damage::{self, Place, Remedy};

/// Why a file could not be decoded: where, what was expected there, and what was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// The kind of a fault in a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file begins with other bytes than its format.
    #[error("expected {expected}, found other bytes")]
    Magic {
        /// With what files of the format begin.
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
    /// The file is right, and has something that is not read.
    #[error("expected {expected}")]
    Unsupported {
        /// A phrase that says what abz reads, and what the file has instead.
        expected: &'static str,
    },
    /// The data breaks the rules of deflate.
    #[error("expected deflate data, found bytes that cannot be any")]
    Deflate,
    /// The contents are larger or smaller than the file says.
    #[error("expected {expected} bytes of contents (modulo 2^32), found {found}")]
    Length {
        /// What the file says.
        expected: u32,
        /// What came out.
        found: u32,
    },
    /// The contents have another checksum than the file says.
    #[error("expected contents with the CRC-32 {expected:08x}, found {found:08x}")]
    Checksum {
        /// What the file says.
        expected: u32,
        /// That of what came out.
        found: u32,
    },
    /// The contents have another checksum than the stream says.
    #[error("expected contents with the Adler-32 {expected:08x}, found {found:08x}")]
    Adler {
        /// What the stream says.
        expected: u32,
        /// That of what came out.
        found: u32,
    },
    /// Other bytes follow the end of the compressed data.
    #[error("expected the end of the file, found other bytes")]
    TrailingGarbage,
    /// Another stream of zlib follows, whole and right. No reader of zlib goes on with it.
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
