//! The executors: what carries the items of a plan from its source to its sink.
//!
//! An [`Assembly`] makes a line of a plan and the code beside it. The inline executor runs all of it on the caller's
//! thread, item by item: it is the reference. The threads executor ([`threads`]) runs it by batons: workers walk the line
//! from the sink to the source, take what baton is free, claim what is ready, and park when there is nothing. The
//! numbered rules in the comments are those of `PROTOCOL.md` beside this file.
//!
//! Types are erased once a claim or a serving, never once an item: a place of the line is a trait object, and the loop
//! over its items is inside it.

mod assembly;
mod behind;
mod cell;
mod clock;
mod counter;
mod end;
mod execute;
mod failure;
mod gate;
mod head;
mod hop;
mod input;
mod joint;
mod line;
mod measures;
mod parallel;
mod push;
mod quantum;
mod reindex;
mod room;
mod run;
mod scales;
mod shards;
mod sink;
mod site;
mod source;
mod span;
mod spread;
mod stage;
mod supply;
mod threads;
mod worker;

pub(crate) use assembly::{Assembly, Taker, Upstream, own_events};
pub(crate) use clock::Moment;
pub(crate) use execute::{Means, execute};
pub use failure::ErrorSlot;
pub(crate) use failure::{Cause, Position};
pub(crate) use gate::Feed;
pub(crate) use line::Line;
#[cfg(feature = "json")]
pub(crate) use measures::{Event, What};
pub(crate) use measures::{Latencies, Measures, Series, Track};
pub(crate) use parallel::Tail;
pub(crate) use run::{Outcome, Run, processors};
pub(crate) use scales::Weigher;
pub(crate) use sink::SinkCall;
pub(crate) use source::SourceUpstream;
pub(crate) use spread::SpreadUpstream;
pub(crate) use stage::StageUpstream;
pub(crate) use supply::Supply;
