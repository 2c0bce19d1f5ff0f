//! Records: bounded windows over an endless sequence of slots (Erbium, sections 2 to 4).
//!
//! A writer reserves slots, fills them and commits them. A reader sees committed items in index order and
//! releases them. Released slots are used again. A burst of any number of slots is handed over at once.
//!
//! No item is lost, duplicated or torn. A side that waits polls for at most 50 us and then sleeps. Each side
//! learns when the other has gone. A record starts no threads, copies no items, and is always bounded.
//!
//! There are two forms. [`one_to_one()`] is the fastest. [`Record`] is for everything else: several writers
//! and readers, indices dealt by stride or claimed on demand, broadcast, registration with hand-over, growth,
//! and observers.
//! | Erbium | one to one | many |
//! |---|---|---|
//! | `stall` | [`Writer::stall`] | [`WriteView::stall`] |
//! | `commit` | [`Slots::commit`], [`Slots::commit_to`] | [`Slots::commit`] |
//! | `receive`: ask now, wait later | [`Reader::ask`] | [`ReadView::ask`] |
//! | `update`: waits; fewer items only at the end of the stream | [`Reader::receive`] | [`ReadView::receive`] |
//! | `receive_range` | [`Reader::receive_range`] | [`ReadView::receive_range`], [`Dealt`] |
//! | `release` | [`Items::release`], [`Items::release_to`] | [`Items::release`] |
//! | horizon | the arguments of [`one_to_one()`] | the arguments of [`Record::writer`] and [`Record::reader`], [`ReadView::widen`] |
//! | `register`, hand-over | moving the value | [`Record::reader`], [`ReadView::leave`] |
//! | `free_view` | dropping a side | dropping a view |
//! | unregistered reader | none | [`Observer`] |
//!
//! Erbium has 32-bit indices, which it shifts back before they overflow. Indices here have 64 bits and are
//! never shifted. A stall panics at 2^63 items, which takes 292 years at one item a nanosecond.

#![allow(unsafe_code)]
// Some types are public only because others have them in their bounds.
#![allow(missing_debug_implementations)]

mod burst;
mod error;
mod many;
mod one;
#[cfg(not(loom))]
pub(crate) mod port;
mod sleep;
mod store;
mod wait;

pub use burst::{Items, Slots};
pub use error::{Closed, RegisterError, TryStallError};
pub use many::{
    All, Deal, Dealt, Observer, Owning, ReadDeal, ReadView, Record, Revoker, Tickets, WriteDeal, WriteView,
};
pub use one::{Closer, Reader, Writer, bounded, one_to_one};
pub use sleep::Sleep;

/// The highest index that may be used plus 1. A stall that would pass it panics. 2^63 items take 292 years at
/// one item a nanosecond.
const INDEX_LIMIT: u64 = 1 << 63;
