//! Process networks: long-lived processes that talk through records, and give the same for every schedule.
//!
//! This is Erbium's programming model (C. Miranda and others, *Erbium: A Deterministic, Concurrent Intermediate
//! Representation to Map Data-Flow Tasks to Scalable, Persistent Streaming Processes*, CASES 2010), which is that of
//! Kahn process networks: processes are sequential code on data of their own, and read and write streams. A read waits
//! until its items are there, and nobody can ask whether they are. So what is written depends on the program and its
//! input alone: not on the number of workers, the schedule, or the horizons, if they are large enough.
//!
//! ```
//! use anabranch::network::Network;
//!
//! let mut sum = 0;
//! let mut net = Network::new();
//! let (mut give, mut take) = net.record::<u64>(64);
//! net.process("count", move |_| {
//!     for n in 0..1_000 {
//!         if give.push(n).is_err() {
//!             break; // no reader is left
//!         }
//!     }
//!     Ok::<(), String>(())
//! });
//! net.process("sum", |_| {
//!     while let Some(n) = take.next() {
//!         sum += n;
//!     }
//!     Ok(())
//! });
//! net.run().unwrap();
//! assert_eq!(sum, 499_500);
//! ```
//!
//! # Processes
//!
//! A [process](Network::process) is plain code with a thread of its own, which parks while the process waits; it may
//! create records and processes as it runs. A [firing rule](Network::rule) has fixed rates and no thread: workers call
//! it each time that its inputs are there, so that a network may have many thousands.
//!
//! # Views
//!
//! A [`Writer`] or [`Reader`] belongs to the process that uses it first. It closes when that process ends, whether the
//! process owns it or has borrowed it, or when it is dropped. A reader whose writer has closed gets what was committed,
//! and then nothing; a writer whose readers have closed gets [`Closed`]. So the end of one process makes others end,
//! in circles, too. When the whole network stands still, views that no process has used are taken for forgotten and
//! closed; if a process that stood still had one after all, it was a deadlock.
//!
//! # Failures
//!
//! When a process fails, the others are told to end: their views close. [`Network::run`] returns the failure of the
//! process created first, of those that have failed for a reason of their own: one that has only noticed the end of
//! another's is not meant. A panic comes through with what it carries. No thread outlives the run.
//!
//! # Deadlocks
//!
//! A network that stands still is noticed at once, without a clock: by the one that goes to sleep last. If somebody
//! waits for room, the smallest full record that [may](Horizon::grow_to) grows, which is Parks' method. Else the run
//! ends with an [`Error`] that says [who waits for what](Deadlock), and, for a record that is too small, the horizon
//! that would do.

mod board;
mod deadlock;
mod error;
mod graph;
mod grip;
mod here;
mod horizon;
mod hub;
mod net;
mod ports;
mod process;
mod reader;
mod records;
mod registry;
mod rule;
mod run;
mod sleep;
mod standstill;
mod worker;
mod writer;

pub use anabranch_record::{All, Closed, Dealt, Observer, RegisterError};
pub use deadlock::{Deadlock, WaitOn};
pub use error::Error;
pub use graph::{Graph, Port, ProcessNode, RecordEdge};
pub use here::Here;
pub use horizon::Horizon;
pub use net::Network;
pub use ports::{Fill, Input, Output, Ports, Window};
pub use reader::{Items, Reader};
pub use registry::Registry;
pub use rule::Verdict;
pub use writer::{Slots, Writer};
