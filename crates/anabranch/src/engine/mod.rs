//! The executors: they carry the items of a plan from its source to its sink.
//!
//! An [`Assembly`] makes a line from a plan and the code beside it. A [direct](direct) line is the plain loop, for a worker that is
//! alone: each item goes from the source to the sink by calls. The threads executor
//! ([`threads`]) runs the line with batons. Its workers walk the line from the sink to the source. They run
//! serial nodes whose batons are free, claim items of parallel units, and park when they find no work. The
//! comments cite the numbered rules of `crates/anabranch/PROTOCOL.md`.
//!
//! Each place of the line is a trait object, and the loop over the items is inside it. So there is one
//! dynamic call for each claim or serving, and none for each item.

pub(crate) mod affinity;
pub(crate) mod assembly;
mod blocks;
mod claims;
pub(crate) mod clock;
pub(crate) mod consumer;
mod detached;
mod edges;
mod end;
mod execute;
pub(crate) mod failure;
mod gate;
mod head;
pub(crate) mod input;
mod line;
pub(crate) mod measures;
pub(crate) mod node;
mod op;
pub(crate) mod progress;
pub(crate) mod pull;
pub(crate) mod quantum;
pub(crate) mod room;
pub(crate) mod run;
pub(crate) mod serving;
mod sink;
pub(crate) mod site;
mod source;
mod span;
mod spread;
mod stage;
pub(crate) mod step;
mod supply;
mod threads;
mod timed;
pub(crate) mod unit;
pub(crate) mod upstream;
mod weight;
mod worker;

pub(crate) use assembly::Assembly;
pub use clock::Moment;
pub(crate) use detached::{DetachedParts, detach};
pub(crate) use execute::{ExecutorParts, execute, own_events};
pub use failure::ErrorSlot;
pub(crate) use failure::{Cause, Position};
pub use failure::{Kept, KeptPanic, discard};
pub use gate::{Feed, RunThreads};
pub(crate) use head::ResultQueue;
pub(crate) use line::Line;
#[cfg(feature = "json")]
pub(crate) use measures::{Event, What};
pub(crate) use measures::{Latencies, Measures, Reading, Series, Track};
pub use op::{Flow, Halt};
pub(crate) use op::{Last, Later, Parallel, ParallelEach, ParallelMany, Serial, SerialEach, Spread};
pub use progress::Progress;
pub(crate) use pull::Pulled;
pub use run::processors;
pub(crate) use run::{Outcome, Run};
pub(crate) use sink::sink;
pub(crate) use source::SourceUpstream;
pub(crate) use span::is_traced;
pub(crate) use spread::SpreadUpstream;
pub(crate) use stage::StageUpstream;
pub(crate) use supply::Supply;
pub(crate) use unit::{Claimed, ParallelUpstream, UnitKind};
pub(crate) use upstream::{Blocks, Upstream};
pub(crate) use weight::Weigher;
