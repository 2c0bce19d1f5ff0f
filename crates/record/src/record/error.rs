//! What can go wrong at a record's edges: nobody reads any more, there is no room yet, an id is not free.

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

/// Why a view could not be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterError {
    /// The record was made for fewer views on this side.
    NoSuchId {
        /// The id asked for.
        id: usize,
        /// How many views the record has on this side; ids are below it.
        views: usize,
    },
    /// A view with this id is connected; it must [leave](crate::WriteView::leave) first.
    Taken {
        /// The id asked for.
        id: usize,
    },
    /// The last view with this id was dropped, which ends its part of the stream for good.
    Ended {
        /// The id asked for.
        id: usize,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchId { id, views } => {
                write!(f, "no view {id}: this side of the record has {views} views")
            }
            Self::Taken { id } => write!(f, "view {id} is connected already"),
            Self::Ended { id } => write!(f, "view {id} has ended and takes no successor"),
        }
    }
}

impl error::Error for RegisterError {}
