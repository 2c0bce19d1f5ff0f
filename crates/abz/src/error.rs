//! Why a run failed.

use std::io;

use abz_codec::{access, bzip2, gzip, legacy, lzip, lzw, xz, zstd};
use thiserror::Error;

/// Why a run failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The input could not be read.
    #[error("reading failed: {0}")]
    Read(#[source] io::Error),
    /// The compressed input is not what it should be. Input of no known format is held against gzip.
    #[error(transparent)]
    Gzip(gzip::DecodeError),
    /// The compressed input begins like bzip2, and is not what it should be.
    #[error(transparent)]
    Bzip2(#[from] bzip2::DecodeError),
    /// The compressed input begins like that of `compress`, and is not what it should be.
    #[error(transparent)]
    Lzw(#[from] lzw::DecodeError),
    /// The compressed input begins like that of `pack`, `compress -H` or `zip`, and is not what it should be, or is not read.
    #[error(transparent)]
    Legacy(#[from] legacy::DecodeError),
    /// The compressed input begins like lzip, and is not what it should be.
    #[error(transparent)]
    Lzip(#[from] lzip::DecodeError),
    /// The compressed input begins like xz or `.lzma`, and is not what it should be.
    #[error(transparent)]
    Xz(#[from] xz::DecodeError),
    /// The compressed input begins like Zstandard, and is not what it should be.
    #[error(transparent)]
    Zstd(#[from] zstd::DecodeError),
    /// A part of the compressed input has not the contents that it should have.
    #[error(transparent)]
    Access(access::DecodeError),
    /// The output could not be written.
    #[error("writing failed: {0}")]
    Write(#[source] io::Error),
}

impl Error {
    /// The offset in the input from which on it is garbage, if that is all that is wrong: everything before is whole and
    /// right, and was written.
    pub(crate) fn is_garbage_at(&self) -> Option<u64> {
        match self {
            Error::Gzip(error) if matches!(error.fault, gzip::Fault::TrailingGarbage) => Some(error.offset),
            Error::Bzip2(error) if error.fault == bzip2::Fault::TrailingGarbage => Some(error.offset),
            Error::Lzip(error) if error.fault == lzip::Fault::TrailingGarbage => Some(error.offset),
            Error::Xz(error) if error.fault == xz::Fault::TrailingGarbage => Some(error.offset),
            Error::Zstd(error) if error.fault == zstd::Fault::TrailingGarbage => Some(error.offset),
            _ => None,
        }
    }

    /// That of a reader on one thread: the file is not what it should be, or cannot be read.
    pub(crate) fn of_reader<E>(error: io::Error) -> Self
    where
        E: std::error::Error + Send + Sync + 'static,
        Error: From<E>,
    {
        match error.downcast::<E>() {
            Ok(error) => error.into(),
            Err(error) => Error::Read(error),
        }
    }
}

impl From<access::DecodeError> for Error {
    fn from(error: access::DecodeError) -> Self {
        match error {
            access::DecodeError::Gzip(error) => error.into(),
            access::DecodeError::Bzip2(error) => error.into(),
            access::DecodeError::Lzip(error) => error.into(),
            access::DecodeError::Xz(error) => error.into(),
            access::DecodeError::Zstd(error) => error.into(),
            error => Error::Access(error),
        }
    }
}

impl From<gzip::DecodeError> for Error {
    /// A failed read while decoding is a failed read.
    fn from(error: gzip::DecodeError) -> Self {
        match error.fault {
            gzip::Fault::Io(error) => Error::Read(error),
            _ => Error::Gzip(error),
        }
    }
}
