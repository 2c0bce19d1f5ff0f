//! Lanes: how the items of one pipeline pass from stage to stage.
//!
//! A [`Domain`] is a stretch of a pipeline whose stages share one sequence of indices and one window. Item
//! *i* uses slot *i* (modulo the capacity) of every lane on its way. An ordered stage therefore reads slots
//! in index order. It needs no reorder buffer and no sequence tags, and only the source ever waits for room.
//!
//! The ends of a lane are called *ports*. Ports are made one after another, from the source to the sink. This
//! order fixes the topology: each lane has exactly one writing port and one reading port.
//!
//! | port | what it does | who may use it |
//! |---|---|---|
//! | [`Source`] | creates indices while the window has room | one thread at a time (`&mut`) |
//! | [`Hop`] | carries items through a parallel stage, in claimed ranges | any number of threads (`&`) |
//! | [`Stage`] | carries items through a serial stage, in index order | one thread at a time |
//! | [`Sink`] | takes items out in index order and gives their indices back | one thread at a time |
//! | [`ArrivalSink`] | takes items out in the order of arrival and gives their indices back | one thread at a time |
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
//! let mut claim = hop.claim(2).unwrap(); // any thread may claim; several claims may be open at once
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
//! Lanes guarantee memory safety under any use. Each value is dropped exactly once, and claimed ranges never
//! overlap. Lanes do not wait: a thread that must wait uses an [`EventCount`](crate::EventCount). Lanes do
//! not lock either: a [`Baton`](crate::Baton) decides which thread uses a serial port.

mod arrival;
mod cell;
mod domain;
mod hop;
mod serial;
mod slots;

pub use arrival::{ArrivalSink, ArrivalWatch, Arrived};
pub use cell::{Cell, Stop};
pub use domain::{Domain, RoomWatch, Source};
pub use hop::{Claim, Hop, PutPermit};
pub use serial::{Committed, Inlet, Sink, Stage, Stamped, Watch};
