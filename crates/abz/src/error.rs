//! Why a run failed.

use std::io;

use abz_codec::gzip::DecodeError;
use thiserror::Error;

/// Why a run failed.
#[derive(Debug, Error)]
pub enum Error {
    /// The input could not be read.
    #[error("reading failed: {0}")]
    Read(#[source] io::Error),
    /// The compressed input is not what it should be.
    #[error(transparent)]
    Decode(DecodeError),
    /// The output could not be written.
    #[error("writing failed: {0}")]
    Write(#[source] io::Error),
}

impl From<DecodeError> for Error {
    /// A failed read while decoding is a failed read.
    fn from(error: DecodeError) -> Self {
        match error.fault {
            abz_codec::gzip::Fault::Io(error) => Error::Read(error),
            _ => Error::Decode(error),
        }
    }
}
