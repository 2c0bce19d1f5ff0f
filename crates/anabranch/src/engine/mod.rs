//! The executors: what carries the items of an assembled line from its source to its sink.
//!
//! - [`inline`] runs everything on the caller's thread, item by item: the reference.
//! - [`threads`] runs it by batons: workers walk the line from the sink to the source, take what baton is free,
//!   claim what is ready, and park when there is nothing. The numbered rules in the comments are those of
//!   `ARCHITECTURE.md`, "The baton protocol".
//!
//! Types are erased once a claim or a serving, never once an item: a node of the line is a trait object, and
//! the loop over its items is inside it.

mod assembly;
mod bridge;
mod cell;
mod clock;
mod exit;
mod gate;
mod hop;
mod inline;
mod measures;
mod run;
mod scales;
mod shards;
mod sink;
mod source;
mod span;
mod stage;
mod threads;
mod worker;

pub(crate) use assembly::{Assembly, BridgeUpstream, NodeSpec, SourceUpstream, StageUpstream, Tail};
pub(crate) use clock::Moment;
pub(crate) use gate::Feed;
pub(crate) use inline::{InlineEnd, InlineSink, Push};
#[cfg(feature = "json")]
pub(crate) use measures::{Event, What};
pub(crate) use measures::{Latencies, Measures, Series, Track};
pub use run::ErrorSlot;
pub(crate) use run::{Outcome, Run, processors};
pub(crate) use scales::Weigher;
pub(crate) use shards::Sharding;
pub(crate) use span::Spans;
pub(crate) use threads::{Terms, Watched, run as run_threads, run_on_crew, watched};
