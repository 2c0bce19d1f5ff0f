//! Process networks: long-lived processes that exchange items through records. The results are the same for
//! every schedule.
//!
//! This is Erbium's programming model (C. Miranda and others, *Erbium: A Deterministic, Concurrent
//! Intermediate Representation to Map Data-Flow Tasks to Scalable, Persistent Streaming Processes*, CASES
//! 2010), which is that of Kahn process networks. Processes are sequential code on their own data; they read
//! and write streams. A read waits until its items have been written, and no process can ask whether they
//! have. So the items that a network writes depend only on the program and its input. They do not depend on
//! the number of workers or on the schedule, nor on the horizons if these are large enough.
//!
//! ```
//! use anabranch_network::Network;
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
//! A [process](Network::process) is plain code with a thread of its own. The thread parks while the process
//! waits. A process may create records, firing rules and other processes while it runs. A [firing rule](Network::rule) has
//! fixed rates and no thread: workers call it each time that its inputs are ready. A network may have many
//! thousands of firing rules.
//!
//! # Plans
//!
//! A network of firing rules can be written as a [`Plan`](plan): nodes that name kernels, and
//! edges with rates, in Rust or in JSON. [`Kernels`] makes a network of it that runs.
//!
//! # Views
//!
//! A [`Writer`] or [`Reader`] belongs to the process that uses it first. It closes when it is dropped, or
//! when that process ends, even if the process has only borrowed it. A reader whose writer has closed gets
//! the items that were committed, and then nothing. A writer whose readers have closed gets [`Closed`]. So
//! the end of one process makes other processes end, in cycles too.
//!
//! If all processes wait, the views that no process has used are considered forgotten, and are closed. If a
//! waiting process uses or drops such a view later, it was not forgotten, and the run ends with a deadlock.
//!
//! # Failures
//!
//! When a process fails, the views of the other processes close, so that they end too. All views of a process close at the
//! same moment. So each process has read and written a prefix of what it would have read and written otherwise: no item is
//! left out, and none comes after the end. The result of a process and its other actions, for example because its stream
//! seems to have ended, are its own matter. [`Network::run`]
//! returns the failure of one process. Failures that only follow from the end of another process do not
//! count; of the others, the failure of the process that was created first is returned. If that process
//! panicked, the panic is resumed with its payload. No thread outlives the run.
//!
//! # Deadlocks
//!
//! A network in which all processes wait is detected at once, without a clock, when the last thread goes to
//! sleep. If a process waits for room, the smallest full record that [may grow](Horizon::grow_to) is enlarged
//! (Parks' method). Otherwise the run ends with an [`Error`] that says [which process waits for
//! what](Deadlock). If a record is too small, the error also says the horizon that is large enough.
//!
//! # Records
//!
//! [`record`] has the records alone, for threads that are no network: one writer and one reader, or any number of them. All
//! `unsafe` code of the crate is there, behind safe types.
//!
//! # Features
//!
//! - `json`: `Plan::to_json` writes a plan as JSON, and `Plan::from_json` reads it. The types of plans and predictions implement
//!   `serde::Serialize`.

// Models of records run in loom's threads, and streams cannot.
#[cfg(not(loom))]
mod network;
#[cfg(not(loom))]
pub mod plan;
pub mod record;

#[cfg(not(loom))]
pub use network::*;
#[cfg(not(loom))]
pub use plan::Plan;
pub use record::{All, Closed, Dealt, Observer, RegisterError};
