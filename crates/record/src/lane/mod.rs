//! Lanes: how the items of one pipeline pass between its stages.
//!
//! A [`Domain`] is a stretch of a pipeline whose stages share one index and one window. Item *i* uses slot
//! *i* (modulo the capacity) of every lane on its way, so an ordered stage only reads slots in index order:
//! there is no reorder buffer and no tag, and only the port that makes indices ever waits for room.
//!
//! The ends of lanes are *ports*. Each lane has one port that writes it and one that reads it.
//!
//! | port | what it does | who may use it |
//! |---|---|---|
//! | [`Indices`] | makes indices, while the window has room | one thread at a time (`&mut`) |
//! | [`Writer`] | stores cells in a lane, in index order | one thread at a time |
//! | [`Hop`] | carries cells through a parallel stage, in claimed ranges | any number of threads (`&`) |
//! | [`Reader`] | takes cells out of a lane, in index order | one thread at a time |
//! | [`Exit`] | gives indices back to the port that makes them | one thread at a time |
//! | [`ArrivalSink`] | takes cells as they arrive, and gives their indices back | one thread at a time |
//!
//! A port that has an index in hand lends a [`Turn`] for it, and the next port uses that turn up. So ports can be joined
//! in any way that has one place for each index: a source that writes a lane is `Indices` and `Writer`, a serial stage
//! is `Reader` and `Writer`, a sink is `Reader` and `Exit`.
//!
//! ```
//! use anabranch_record::lane::{Cell, Domain};
//!
//! let (mut indices, mut exit) = Domain::open(4);
//! let (mut writer, lane) = indices.domain().lane::<u32>();
//! let (hop, lane) = lane.hop::<String>();
//! let mut reader = lane.reader();
//!
//! writer.put(indices.open(), Cell::Value(20));
//! writer.put(indices.open(), Cell::Value(22));
//!
//! let mut claim = hop.claim(2).unwrap(); // any thread, any number of ranges at once
//! while let Some(cell) = claim.take() {
//!     claim.put(cell.map(|number| number.to_string()));
//! }
//! drop(claim);
//!
//! let (turn, cell) = reader.take().unwrap();
//! assert_eq!(cell, Cell::Value("20".to_owned()));
//! assert_eq!(indices.fresh_room(), 2); // taken, but not yet given back
//! exit.release(turn);
//! assert_eq!(indices.fresh_room(), 3);
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
mod turn;

pub use arrival::{ArrivalSink, ArrivalWatch, Arrived};
pub use cell::{Cell, Stop};
pub use domain::{Domain, Exit, Indices, WINDOW_LIMIT};
pub use hop::{Claim, Hop, PutPermit};
pub use serial::{Committed, Reader, Stamped, Watch, Writer};
pub use turn::Turn;
