//! The stream builder.

#[cfg(feature = "futures")]
pub use asynchronous::AsyncItems;
pub use boxed::{BoxStream, TryBoxStream};

#[cfg(feature = "futures")]
mod asynchronous;
mod boxed;
mod choose;
mod draft;
mod ends;
mod iter;
mod parallel;
mod run;
mod serial;
mod settings;
mod sharded;
mod sources;
mod summaries;

use std::marker::PhantomData;

use crate::engine::Tail;
use crate::mode::{Mode, Sure};
use crate::unit::Unit;
use draft::Draft;

/// A streaming loop: a source, stages, and settings. The methods that are called *ends* run it.
///
/// A stage whose name has `serial` in it runs for one item at a time, in order, and may change the variables
/// that it captures. The other stages run for several items at once. The end sees what the plain loop would
/// have given: the same items in the same order, and the same first error.
///
/// If an item is less than a microsecond of work, let parallel closures own (`move`) the variables that they
/// read. A variable on the stack may share a cache line with a variable that a serial stage changes, and is
/// then fetched again after each change.
///
/// ```
/// use anabranch::Stream;
///
/// let mut seen = 0;
/// let squares: Vec<u64> = Stream::from_iter(1..=1_000u64)
///     .map(|n| n * n)            // on all cores
///     .serial(|n| { seen += 1; n }) // one item at a time, in order
///     .filter(|n| n % 2 == 0)    // on all cores again
///     .collect();
/// assert_eq!(seen, 1_000);
/// assert_eq!(squares[..3], [4, 16, 36]);
/// ```
#[must_use = "a stream does nothing before its end"]
pub struct Stream<'env, U: Unit, M: Mode = Sure> {
    /// The code of the stages, beside the plan.
    tail: Tail<'env, U, M::Error>,
    /// The plan and its attachments. They are boxed because every call of the builder moves the stream.
    draft: Box<Draft<'env>>,
    mode: PhantomData<fn() -> M>,
}

impl<U: Unit, M: Mode> std::fmt::Debug for Stream<'_, U, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plan = &self.draft.outline.plan;
        let stages: Vec<&str> = plan.nodes.iter().map(|node| &*node.name).collect();
        f.debug_struct("Stream").field("stages", &stages).field("settings", &plan.settings).finish()
    }
}
