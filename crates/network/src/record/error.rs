//! The errors of records: all readers are gone, there is no room yet, or a view cannot be registered.

use std::{error, fmt};

/// All readers are gone, so nothing that is written can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all readers of the record are gone, so writing to it is of no use")
    }
}

impl error::Error for Closed {}

/// The reason why slots could not be reserved without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryStallError {
    /// The record is full. Readers must release slots before these can be reserved.
    Full,
    /// All readers are gone.
    Closed,
}

impl fmt::Display for TryStallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the record is full: readers must release slots first"),
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

/// The reason why a view could not be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterError {
    /// The record was created for fewer views on this side.
    NoSuchId {
        /// The id that was asked for.
        id: usize,
        /// How many views the record has on this side. Ids are below this number.
        views: usize,
    },
    /// A view with this id is connected. It must [leave](crate::record::WriteView::leave) first.
    Taken {
        /// The id that was asked for.
        id: usize,
    },
    /// The last view with this id was dropped. That ended its part of the stream for good.
    Ended {
        /// The id that was asked for.
        id: usize,
    },
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchId { id, views } => {
                write!(f, "there is no view {id}: this side of the record has {views} views, with ids from 0")
            }
            Self::Taken { id } => {
                write!(f, "view {id} is connected already: it must leave before another can take its place")
            }
            Self::Ended { id } => write!(
                f,
                "view {id} was dropped, which ended its part of the stream: no other view can continue it"
            ),
        }
    }
}

impl error::Error for RegisterError {}
