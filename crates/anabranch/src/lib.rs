//! Run a streaming loop on all cores and get exactly what the loop would have given: the same output, in the
//! same order, with the same first error, in bounded memory.
//!
//! ```
//! use anabranch::Stream;
//! use std::io::{self, Read, Write};
//!
//! /// Reads blocks, transforms them on all cores, writes them in order.
//! fn shout(mut input: impl Read + Send, mut output: impl Write + Send) -> io::Result<()> {
//!     let blocks = std::iter::from_fn(move || {
//!         let mut block = Vec::new();
//!         match input.by_ref().take(1 << 16).read_to_end(&mut block) {
//!             Ok(0) => None,
//!             Ok(_) => Some(Ok(block)),
//!             Err(error) => Some(Err(error)),
//!         }
//!     });
//!     Stream::try_from_iter(blocks)                         // serial: reads one block after the other
//!         .map(|block: Vec<u8>| block.to_ascii_uppercase()) // parallel
//!         .try_for_each(|block| output.write_all(&block))   // serial, in order
//! }
//!
//! let mut output = Vec::new();
//! shout(&b"down the river"[..], &mut output)?;
//! assert_eq!(output, b"DOWN THE RIVER");
//! # Ok::<(), io::Error>(())
//! ```
//!
//! A [`Stream`] is a source, stages and settings. Its *end* runs it. Stages whose names have `serial` in them, and those that
//! depend on the order of the items, such as `take`, `scan` and `chunks`, run for one item at a time, in order, and may change
//! the variables that they capture. The other stages run for several items at once. Stages may borrow from the caller's stack.
//!
//! # What it promises
//!
//! The [contract] has each promise in full.
//!
//! - **Same output**: the end sees the results in the order of the source, and they are the same for any
//!   number of workers. ([`unordered`](Stream::unordered) gives up the order.)
//! - **Same first failure**: when item *i* fails, by an error or a panic, the end has seen exactly the
//!   results of the items before it, and the caller gets that error or that panic. The source is not asked
//!   again.
//! - **Bounded**: at most [`window`](Stream::window) items are between source and end. A full window means
//!   that the source is not asked.
//! - **Idle is free**: a worker that finds no work spins for at most 50 µs and then sleeps.
//! - **Clean stops**: no thread outlives the call, however it ends; every item is dropped exactly once.
//! - **No deadlock**: a stream finishes with any window and any number of workers from 1 on, inside other
//!   runs too.
//! - **Prompt**: a finished result reaches the end without waiting for the source.
//!
//! # What it does not promise
//!
//! Earlier serial stages and the source may be up to a window of items ahead of a failure. Items that a stage
//! keeps in its state do not count in the window. Anabranch is not a data-parallel library: for a loop over a
//! slice, use rayon.
//!
//! # Systems
//!
//! A stream gives the same results on every system that has the standard library. Some things need Linux: pinning workers to
//! processors, as a [plan](Plan) can ask, and the processor times in a report. On other systems the workers stay where
//! the system places them, and the report leaves these times out. Linux has `membarrier` too, which makes it cheaper
//! to pass single items between threads.
//!
//! # Forks
//!
//! A process that the C function `fork` has created has one thread, and a copy of everything else. Streams that are run there work, and so do
//! pools that are created there. Handles of a run or a pool of the parent panic and say that the process was forked: the
//! pool, a [`Sender`], an [`Offload`], an iterator of results. Dropping them does nothing. If a function that a run calls has forked the process and
//! returns in the child, the run goes on there if it has no other thread. Otherwise the child writes a message to standard error and
//! aborts. Processes that [`Command`](std::process::Command) starts are not forks in this sense: they run another program.
//!
//! # Where to look
//!
//! - [`Stream`] has the sources, stages, ends and settings.
//! - [`annotation`] describes the attribute that runs an annotated loop.
//! - [`prelude`] turns iterators into streams.
//! - [`Plan`] describes what will run, and [`Report`] what has run.
//! - [`Shards`] is for stages that keep a state for each key.
//! - [`CountWindows`], [`TimeWindows`] and [`SessionWindows`] put items together.
//! - [`Unmet`] is the error of a stream in which an item needs a result that never comes.
//! - [`Pool`] is for many short runs.
//! - [`Workers`] and [`CancelToken`] control a run, and [`Monitor`] shows its state.
//! - [`Offload`] runs single tasks on a farm.
//! - [`Recycler`] reuses large buffers.
//! - [`ssp`] is for programs that were written for Rust-SSP.
//! - The crate `anabranch-network` runs networks of processes, with streams in them.
//!
//! # Features
//!
//! - `macros`, on by default: the attribute [`#[stream]`](annotation).
//! - `json`: `Report::to_json` writes a report as JSON. `Report::to_trace` writes it as a trace for Perfetto
//!   or Chrome, if the stream was run with `Stream::trace`. `Plan::to_json` writes a plan as JSON, and
//!   `Plan::from_json` reads it. The feature depends on `serde` and `serde_json`.
//! - `html`: `Report::to_html` writes a report as a page with pictures.
//! - `futures`: `Stream::from_async` creates a stream of an asynchronous stream, and `into_async` turns a
//!   stream into an asynchronous one: `Stream::from_async(lines).map(parse).into_async()`. `Stream::map_async` is a stage of
//!   futures, which the workers poll.
//! - `tokio`: `Stream::on` names the runtime of tokio that the futures and the source of a stream need.
//! - `tracing`: each run and each of its stages has a span of the crate `tracing`, with the target
//!   `anabranch` and the level `DEBUG`.
//!   `tracing_subscriber::fmt().with_max_level(Level::DEBUG).with_span_events(FmtSpan::CLOSE).init()` prints
//!   how long each of them took.
#![forbid(unsafe_code)]

pub mod annotation;
mod clock;
mod control;
mod engine;
#[doc(hidden)] // For process networks.
pub mod host;
mod measures;
mod operators;
mod outside;
mod report;
pub mod ssp;
mod stream;

#[cfg(feature = "macros")]
pub use anabranch_macros::stream;
pub use anabranch_plan::{self as plan, Plan};
pub use control::{
    CancelToken, Monitor, NodeSnapshot, Pool, PoolShare, Recycled, Recycler, Retry, Snapshot, Stopped,
    TimeLimit, TimedOut, Watch, WorkerCount, Workers,
};
pub use engine::{Flow, Halt, Progress};
pub use operators::{
    Branches, Broadcast, ByKey, CountWindows, InTurn, KeyedWindow, Lap, OnLate, Operator, Results, Route,
    SessionWindows, Shards, Split, TimeWindows, Unmet, Window, Windows,
};
#[cfg(feature = "futures")]
pub use outside::AsyncItems;
#[doc(hidden)] // For the library for C.
pub use outside::posts;
pub use outside::prelude;
pub use outside::{Items, Offload, SendError, Sender, TrySendError};
#[cfg(feature = "json")]
pub use report::REPORT_VERSION;
pub use report::{Latency, NodeReport, Report, ReportFormat, ReportSlot, ReportWriter};
#[doc(hidden)] // For the library for clusters.
pub use stream::remark;
pub use stream::{
    Admit, Blend, Container, May, Mode, Pipeline, SendIterator, Source, Stream, Sure, TryStream, Waits,
    contract, default_workers, options,
};
