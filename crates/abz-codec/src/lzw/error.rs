//! The faults of a file of `compress`.

use std::io;

use thiserror::Error;

use crate::damage::{self, Place, Remedy};

/// The error of a file of `compress` that could not be decoded: the place, what was expected there, and what was found.
pub type DecodeError = damage::DecodeError<Fault>;

/// A fault in a file of `compress`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The first two bytes are not `1f 9d`: this is no file of `compress`.
    #[error("expected the magic bytes 1f 9d, found {:02x} {:02x}", found[0], found[1])]
    Magic {
        /// The first bytes.
        found: [u8; 2],
    },
    /// The maximum code width is not 9 to 16 bits. No program writes other widths.
    #[error("expected a maximum code width of 9 to 16 bits, found {found}")]
    Width {
        /// The maximum code width in the header, in bits.
        found: u8,
    },
    /// A flag is set that no program uses. It may change the meaning of the bytes that follow.
    #[error("expected the reserved flags to be 0, found flags {found:#04x}")]
    ReservedFlags {
        /// The whole byte of flags.
        found: u8,
    },
    /// The file ends inside its header.
    #[error("expected more of the header, found the end of the file")]
    Truncated,
    /// A code stands for no string yet.
    #[error("expected a code of at most {most}, found {found}")]
    Code {
        /// The highest valid code at that place.
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
