//! Lanes: how the items of one pipeline pass between its stages.
//!
//! A [`Domain`] is a stretch of a pipeline whose stages share one index and one window. Item *i* uses slot
//! *i* (modulo the capacity) of every lane on its way, so an ordered stage only reads slots in index order:
//! there is no reorder buffer and no tag, and only the source ever waits for room.
//!
//! The ends of lanes are *ports*, made one after the other from the source to the sink, which fixes the
//! topology: each lane has one side that writes and one that reads.
//!
//! | port | side | who may use it |
//! |---|---|---|
//! | [`Source`] | makes indices, while the window has room | one thread at a time (`&mut`) |
//! | [`Hop`] | carries items through a parallel stage, in claimed ranges | any number of threads (`&`) |
//! | [`Stage`] | carries items through a serial stage, in index order | one thread at a time |
//! | [`Sink`] | takes items out in index order, and gives their indices back | one thread at a time |
//! | [`ArrivalSink`] | takes items out as they arrive, and gives their indices back | one thread at a time |
//!
//! ```
//! use anabranch_record::lane::{Cell, Domain};
//!
//! let (mut source, lane) = Domain::open::<u32>(4);
//! let (hop, lane) = lane.hop::<String>();
//! let mut sink = lane.sink();
//!
//! source.put(Cell::Value(20));
//! source.put(Cell::Value(22));
//!
//! let mut claim = hop.claim(2).unwrap(); // any thread, any number of ranges at once
//! while let Some(cell) = claim.take() {
//!     claim.put(cell.map(|number| number.to_string()));
//! }
//! drop(claim);
//!
//! assert_eq!(sink.take(), Some(Cell::Value("20".to_owned())));
//! assert_eq!(source.fresh_room(), 2); // taken, but not yet given back
//! sink.release();
//! assert_eq!(source.fresh_room(), 3);
//! ```
//!
//! Lanes promise memory safety under any use, that each value is dropped exactly once, and that ranges never
//! overlap. They do not wait: [`EventCount`](crate::EventCount) does, and [`Baton`](crate::Baton) says who
//! holds the serial ports.

mod arrival;
mod cell;
mod domain;
mod hop;
mod serial;
mod slots;

pub use arrival::{ArrivalSink, ArrivalWatch, Arrived};
pub use cell::{Cell, Stop};
pub use domain::{Domain, RoomWatch, Source};
pub use hop::{Claim, Hop, Ticket};
pub use serial::{Committed, Inlet, Sink, Stage, Stamped, Watch};
