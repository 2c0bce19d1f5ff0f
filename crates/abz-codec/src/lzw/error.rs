//! What can be wrong with a file of `compress`, and where.

use std::io;

use thiserror::Error;

use crate::damage::{self, Place, Remedy};

/// Why a file of `compress` could not be decoded: where, what was expected there, and what was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// What is wrong at a place in a file of `compress`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The first bytes are others: this is no file of `compress`.
    #[error("expected the magic bytes 1f 9d, found {:02x} {:02x}", found[0], found[1])]
    Magic {
        /// The first bytes.
        found: [u8; 2],
    },
    /// Codes of such a width are not written by any program.
    #[error("expected codes of at most 9 to 16 bits, found {found}")]
    Width {
        /// What the header says.
        found: u8,
    },
    /// Flags are set that no program knows: what follows cannot be known.
    #[error("expected the reserved flags to be 0, found flags {found:#04x}")]
    ReservedFlags {
        /// All of the byte.
        found: u8,
    },
    /// The file ends inside its header.
    #[error("expected more of the header, found the end of the file")]
    Truncated,
    /// A code stands for no string.
    #[error("expected a code of at most {most}, found {found}")]
    Code {
        /// The highest code that has a meaning there.
        most: u16,
        /// The code.
        found: u16,
    },
}

impl damage::Fault for Fault {
    fn remedy(&self, _place: Place) -> Remedy {
        Remedy::AnotherCopy
    }

    fn kind(&self) -> Option<io::ErrorKind> {
        matches!(self, Fault::Truncated).then_some(io::ErrorKind::UnexpectedEof)
    }
}
