//! Lanes: how the items of one pipeline pass between its stages.
//!
//! A [`Domain`] is a stretch of a pipeline whose stages share one sequence of indices and one window. Item
//! *i* uses slot *i* (modulo the capacity) of every lane on its way. An ordered stage therefore reads slots
//! in index order. It needs no reorder buffer and no sequence tags, and only the port that creates indices
//! ever waits for room.
//!
//! The ends of a lane are called *ports*. Each lane has one port that writes it and one that reads it.
//!
//! | port | what it does | who may use it |
//! |---|---|---|
//! | [`Indices`] | creates indices, while the window has room | one thread at a time (`&mut`) |
//! | [`Writer`] | stores cells in a lane, in index order | one thread at a time |
//! | [`Dealer`] | claims ranges of cells, for a parallel stage | any number of threads (`&`) |
//! | [`Putter`] | puts the results of claims into the lane behind the stage | any number of threads (`&`) |
//! | [`Reader`] | takes cells out of a lane, in index order | one thread at a time |
//! | [`Exit`] | gives indices back to the port that creates them | one thread at a time |
//! | [`ArrivalSink`] | takes cells in the order of arrival, and gives their indices back | one thread at a time |
//!
//! A port that has an index lends a [`Turn`] for it, and the next port uses up this turn. Ports can be joined
//! in any way that leaves each index in one place. A source that writes a lane is an `Indices` and a
//! `Writer`, a serial stage is a `Reader` and a `Writer`, and a sink is a `Reader` and an `Exit`.
//!
//! ```
//! use anabranch_record::lane::{Cell, Domain};
//!
//! let (mut indices, mut exit) = Domain::open(4);
//! let (mut writer, lane) = Domain::lane::<u32>(indices.domain());
//! let (dealer, outlet) = lane.dealer();
//! let (putter, lane) = outlet.lane::<String>();
//! let mut reader = lane.reader();
//!
//! writer.put(indices.open(), Cell::Value(20));
//! writer.put(indices.open(), Cell::Value(22));
//!
//! let (mut claim, mut turn) = dealer.claim(2).unwrap(); // any thread may claim; several claims may be open at once
//! while let Some(Cell::Value(number)) = claim.take() {
//!     putter.put(&mut turn, Cell::Value(number.to_string()));
//! }
//!
//! let (turn, cell) = reader.take().unwrap();
//! assert_eq!(cell, Cell::Value("20".to_owned()));
//! assert_eq!(indices.fresh_room(), 2); // taken, but not yet given back
//! exit.release(turn);
//! assert_eq!(indices.fresh_room(), 3);
//! ```
//!
//! Lanes guarantee memory safety under any use. Each value is dropped exactly once, and claimed ranges never
//! overlap. Lanes do not wait: a thread that must wait uses an [`EventCount`](crate::EventCount). Lanes do
//! not lock either: a [`Baton`](crate::Baton) decides which thread uses a serial port.

mod arrival;
mod cell;
mod claim;
mod domain;
mod serial;
mod slots;
mod turn;

pub use arrival::{ArrivalSink, ArrivalWatch, Arrived};
pub use cell::{Batch, Cell, Stop};
pub use claim::{Claim, Dealer, Outlet, Putter};
pub use domain::{Domain, Exit, Indices, WINDOW_LIMIT};
pub use serial::{Committed, Reader, Stamped, Watch, Writer};
pub use turn::Turn;
