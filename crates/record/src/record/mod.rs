//! Records: bounded windows over an endless sequence of slots (Erbium, sections 2 to 4).
//!
//! Writers reserve slots, fill them and commit; readers see committed items in index order and release them;
//! released slots are used again. A burst of any number of slots is handed over at once. No item is lost,
//! doubled or torn; a side that waits polls for at most 50 us, then sleeps; each side learns when the other has
//! gone. A record does not start threads, does not copy items and is never unbounded.
//!
//! Two forms: [`one_to_one()`], the quickest, and [`Record`], for everything else: many views on either side,
//! indices dealt by stride or by ticket, broadcast, registration with hand-over, growth, observers.
//!
//! | Erbium | one to one | many |
//! |---|---|---|
//! | `stall` | [`Writer::stall`] | [`WriteView::stall`] |
//! | `commit` | [`Slots::commit`], [`Slots::commit_to`] | [`ViewSlots::commit`] |
//! | `receive`: ask now, wait later | [`Reader::ask`] | [`ReadView::ask`] |
//! | `update`: fewer items only at the end, then none | [`Reader::receive`] | [`ReadView::receive`] |
//! | `receive_range` | [`Reader::receive_range`] | [`ReadView::receive_range`], [`Dealt`] |
//! | `release` | [`Items::release`], [`Items::release_to`] | [`ViewItems::release`] |
//! | horizon | the arguments of [`one_to_one()`] | of [`Record::writer`], [`Record::reader`], [`ReadView::widen`] |
//! | `register`, hand-over | moving the value | [`Record::reader`], [`ReadView::leave`] |
//! | `free_view` | dropping a side | dropping a view |
//! | unregistered reader | none | [`Observer`] |
//!
//! Erbium's 32-bit indices are moved back before they overflow. Here they have 64 bits and are never moved: at
//! 2^63 items (292 years at one a nanosecond) a stall panics.

mod error;
mod many;
mod one;
mod store;
mod wait;

pub use error::{Closed, RegisterError, TryStallError};
pub use many::{
    All, Deal, Dealt, Observer, Owning, ReadDeal, ReadView, Record, Tickets, ViewItems, ViewSlots, WriteDeal,
    WriteView,
};
pub use one::{Items, Reader, Slots, Writer, one_to_one};

/// No index is this high: a stall that would pass it panics. 2^63 items are 292 years at one a nanosecond.
const LAST: u64 = 1 << 63;
