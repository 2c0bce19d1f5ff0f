//! How items pass between threads: bounded windows, lanes and batons.
//!
//! Three tools of one kind. Items have 64-bit indices, slots are reused behind a window that bounds the memory,
//! and whoever may touch a slot is known from the index alone, so that items need no lock.
//!
//! - A [`Record`] is Erbium's event record: writers *stall* for room and *commit*, readers *receive* and
//!   *release*. [`one_to_one`] is its plainest form and carries a burst for one synchronisation.
//! - [Lanes](lane) carry the items of one pipeline: all stages share one window, and only the source waits.
//! - A [`Baton`] says who runs a serial stage, and an [`EventCount`] lets threads wait for anything at all.
//!   A [`Crew`] is threads that help with jobs which may borrow, an [inbox] a queue that many threads post to.
//!
//! ```
//! use anabranch_record::one_to_one;
//!
//! let (mut writer, mut reader) = one_to_one(4, 4);
//! std::thread::scope(|scope| {
//!     scope.spawn(move || {
//!         for n in 0..100u32 {
//!             let Ok(mut slots) = writer.stall(1) else { return }; // the reader has gone
//!             slots.push(n);
//!             slots.commit();
//!         }
//!     }); // the writer is dropped: the stream ends
//!     let mut sum = 0;
//!     loop {
//!         let items = reader.receive(4); // fewer only at the end
//!         if items.is_empty() {
//!             break;
//!         }
//!         sum += items.iter().sum::<u32>();
//!         items.release();
//!     }
//!     assert_eq!(sum, 4_950);
//! });
//! ```
//!
//! # What it promises
//!
//! Each item is dropped exactly once, whenever a side is dropped. An uncommitted slot is private and a released
//! one unreachable, which the borrow checker guards. No waiting thread uses a processor for longer than some
//! tens of microseconds. All `unsafe` of the workspace's data plane is here, behind safe types, each with its
//! argument; loom and shuttle check the protocols.
//!
//! # What it does not
//!
//! It starts no threads but a crew's, and knows nothing of stages or errors: that is `anabranch`.

pub mod baton;
pub mod crew;
mod event;
pub mod inbox;
pub mod lane;
mod leftovers;
mod record;
mod ring;
pub mod sync;

pub use baton::{Baton, Held, Word};
pub use crew::Crew;
pub use event::{EventCount, Ticket};
pub use record::{
    All, Closed, Deal, Dealt, Items, Observer, Owning, ReadDeal, ReadView, Reader, Record, RegisterError,
    Slots, Tickets, TryStallError, ViewItems, ViewSlots, WriteDeal, WriteView, Writer, one_to_one,
};
