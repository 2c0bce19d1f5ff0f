//! Records: bounded windows over an endless sequence of slots (Erbium, sections 2 to 4).
//!
//! | Erbium | here |
//! |---|---|
//! | `stall` | [`Writer::stall`]: reserve slots, waiting while they would pass the horizon |
//! | `commit` | [`Slots::commit`], [`Slots::commit_to`] |
//! | split-phase `receive` | [`Reader::ask`] |
//! | `update` | [`Reader::receive`]: fewer items only at the end of the stream, then none |
//! | `receive_range` | [`Reader::receive_range`] |
//! | `release` | [`Items::release`], [`Items::release_to`] |
//! | `free_view` | dropping a side; the other learns it |

mod error;
mod one;
mod store;
mod wait;

pub use error::{Closed, TryStallError};
pub use one::{Items, Reader, Slots, Writer, one_to_one};

/// No index is this high: a stall that would pass it panics. 2^63 items are 292 years at one a nanosecond.
const LAST: u64 = 1 << 63;
