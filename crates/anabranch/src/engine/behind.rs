//! A parallel unit behind another one of which it knows only what that gives.

use anabranch_record::lane::{Cell, PutPermit};

/// Cells with the permits for their results.
pub(crate) type Dealt<S> = Vec<(PutPermit, Cell<S>)>;

/// A parallel unit that takes the results of another one, for all workers.
pub(crate) trait Behind<S: Send>: Send + Sync {
    /// Makes a worker's side of it.
    fn carrier(&self) -> Box<dyn CarryOn<S> + '_>;
}

/// One worker's side of a parallel unit that takes the results of another one.
pub(crate) trait CarryOn<S: Send> {
    /// Carries all cells across, and leaves none behind. Gives how many items the last unit gave.
    fn carry_on(&mut self, cells: &mut Dealt<S>) -> u64;
}
