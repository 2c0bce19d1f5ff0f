//! The error of bits that are not deflate data.

use thiserror::Error;

/// The error of bits that are not deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected deflate data, found invalid bits")]
pub struct Damaged;
