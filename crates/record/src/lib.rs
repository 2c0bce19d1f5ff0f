//! Tools that pass items between threads: bounded windows, lanes and batons.
//!
//! An item has a 64-bit index, and the slots that hold items are reused within a window, which bounds the memory. The
//! index alone determines which thread may touch a slot, so no lock is taken to pass an item. That is the idea of the
//! event records of Erbium, from which the crate has its name. The records themselves are in `anabranch-network`.
//!
//! - [Lanes](lane) carry the items of one pipeline. All stages of the pipeline share one window, and only the
//!   source waits for room.
//! - A [`Baton`] decides which thread runs a serial stage. An [`EventCount`] lets threads sleep until
//!   something has changed. A [`ThreadPool`] is a set of threads that help with jobs, and these jobs may borrow. An
//!   [inbox] is a bounded queue that many threads post to and one thread empties.
//!
//! ```
//! use anabranch_record::{EventCount, inbox::inbox};
//!
//! let (inbox, mut consumer) = inbox(4);
//! let posted = EventCount::new();
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         inbox.post(7).unwrap();
//!         posted.notify();
//!     });
//!     let mut got = None;
//!     while consumer.take(1, |item| got = Some(item)) == 0 {
//!         let key = posted.prepare();
//!         // A last look, after the announcement: a post from now on wakes this thread.
//!         if consumer.waiting() > 0 { posted.leave() } else { posted.wait(key) }
//!     }
//!     assert_eq!(got, Some(7));
//! });
//! ```
//!
//! # Guarantees
//!
//! - Each item is dropped exactly once, no matter when a side is dropped.
//! - A waiting thread polls for at most some tens of microseconds and then sleeps.
//! - The `unsafe` code that moves items between threads is in safe types. Each block
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
pub mod everybody;
pub mod fork;
pub mod inbox;
pub mod lane;
pub mod leftovers;
pub mod mutant;
pub mod pool;
mod ring;
pub mod sync;

pub use baton::{Baton, Held, Word};
pub use event::{EventCount, Recall, WaitKey};
pub use pool::ThreadPool;
