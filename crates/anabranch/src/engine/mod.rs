//! The executors: they carry the items of a plan from its source to its sink.
//!
//! [`execute`] is the door. [`build`] makes a line from a plan and from the code beside it, whose nodes are in [`stages`] and are made
//! of [`nodes`]. [`walk`] has the workers that walk the line from the sink to the source: they run serial nodes whose batons are
//! free, claim items of parallel units, and park when they find no work. [`state`] is what the threads of a run share. A direct line,
//! for a worker that is alone, is the plain loop: each item goes from the source to the sink by calls. The
//! comments cite the numbered rules of `crates/anabranch/PROTOCOL.md`.
//!
//! Each place of the line is a trait object, and the loop over the items is inside it. So there is one
//! dynamic call for each claim or serving, and none for each item.

pub(crate) mod build;
mod execute;
pub(crate) mod nodes;
pub(crate) mod stages;
pub(crate) mod state;
pub(crate) mod walk;

pub(crate) use build::assembly::Assembly;
pub(crate) use build::line::Line;
pub(crate) use build::upstream::Upstream;
pub(crate) use execute::{ExecutorParts, execute, own_events};
pub(crate) use nodes::head::ResultQueue;
pub use nodes::op::{Flow, Halt};
pub(crate) use nodes::op::{Last, Later, Parallel, ParallelEach, ParallelMany, Serial, SerialEach, Spread};
pub(crate) use nodes::pull::Pulled;
pub(crate) use stages::sink::sink;
pub(crate) use stages::source::SourceUpstream;
pub(crate) use stages::spread::SpreadUpstream;
pub(crate) use stages::stage::StageUpstream;
pub(crate) use stages::unit::{Claimed, ParallelUpstream, UnitKind};
pub use state::failure::ErrorSlot;
pub(crate) use state::failure::{Cause, Position};
pub use state::failure::{Kept, KeptPanic, discard};
pub use state::gate::{Feed, RunThreads};
pub use state::progress::Progress;
pub use state::run::processors;
pub(crate) use state::run::{Outcome, Run};
pub(crate) use state::span::is_traced;
pub(crate) use state::supply::Supply;
pub(crate) use state::weight::Weigher;
pub(crate) use walk::detached::{DetachedParts, detach};
