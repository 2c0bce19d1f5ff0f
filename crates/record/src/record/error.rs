//! What can go wrong at a record's edges: nobody reads any more, or there is no room yet.

use std::{error, fmt};

/// All readers are gone, so nothing that is written can be read any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the record has no reader left")
    }
}

impl error::Error for Closed {}

/// Why slots could not be reserved without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryStallError {
    /// The slots lie beyond the horizon until readers release some.
    Full,
    /// All readers are gone.
    Closed,
}

impl fmt::Display for TryStallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the record has no room before its horizon"),
            Self::Closed => Closed.fmt(f),
        }
    }
}

impl error::Error for TryStallError {}

impl From<Closed> for TryStallError {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}
