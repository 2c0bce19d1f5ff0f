//! Tools that pass items between threads: bounded windows, lanes and batons.
//!
//! The crate has three kinds of tools. In records and lanes an item has a 64-bit index, and the slots that
//! hold items are reused within a window, which bounds the memory. The index alone determines which thread
//! may touch a slot, so no lock is taken to pass an item.
//!
//! - A [`Record`] is the event record of the Erbium paper. Writers *stall* until there is room and *commit*
//!   what they have written. Readers *receive* items and *release* them. [`one_to_one`] is the simplest form
//!   of a record, and the fastest: one synchronisation hands over a whole burst of items.
//! - [Lanes](lane) carry the items of one pipeline. All stages of the pipeline share one window, and only the
//!   source waits for room.
//! - A [`Baton`] decides which thread runs a serial stage. An [`EventCount`] lets threads sleep until
//!   something has changed. A [`ThreadPool`] is a set of threads that help with jobs, and these jobs may borrow. An
//!   [inbox] is a bounded queue that many threads post to and one thread empties.
//!
//! ```
//! use anabranch_record::one_to_one;
//!
//! let (mut writer, mut reader) = one_to_one(4, 4);
//! std::thread::scope(|scope| {
//!     scope.spawn(move || {
//!         for n in 0..100u32 {
//!             let Ok(mut slots) = writer.stall(1) else { return }; // the reader was dropped
//!             slots.push(n);
//!             slots.commit();
//!         }
//!     }); // dropping the writer ends the stream
//!     let mut sum = 0;
//!     loop {
//!         let items = reader.receive(4); // fewer than 4 only at the end of the stream
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
//! # Guarantees
//!
//! - Each item is dropped exactly once, no matter when a writer or a reader is dropped.
//! - A slot that is not committed is visible to its writer only, and a released slot cannot be read. The
//!   borrow checker enforces both.
//! - A waiting thread polls for at most some tens of microseconds and then sleeps.
//! - All `unsafe` code that moves items between threads is in this crate, behind safe types. Each block
//!   states why it is sound, and loom and shuttle check the protocols.
//!
//! # What is not here
//!
//! The crate starts no threads except those of a [`ThreadPool`]. It knows nothing of stages or of errors: the crate
//! `anabranch` adds them.
#![allow(unsafe_code)]

pub mod backoff;
pub mod baton;
mod event;
mod everybody;
pub mod fork;
pub mod inbox;
pub mod lane;
mod leftovers;
pub mod mutant;
pub mod pool;
mod record;
mod ring;
pub mod sync;

pub use baton::{Baton, Held, Word};
pub use event::{EventCount, Recall, WaitKey};
pub use pool::ThreadPool;
pub use record::{
    All, Closed, Closer, Deal, Dealt, Items, Observer, Owning, ReadDeal, ReadView, Reader, Record,
    RegisterError, Revoker, Sleep, Slots, Tickets, TryStallError, ViewItems, ViewSlots, WriteDeal, WriteView,
    Writer, bounded, one_to_one,
};
