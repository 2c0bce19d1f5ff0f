//! A parallel unit behind another one. It knows only the type of the other one's results.

use anabranch_record::lane::{Cell, PutPermit};

/// Cells with the permits for their results.
pub(crate) type Dealt<S> = Vec<(PutPermit, Cell<S>)>;

/// A parallel unit that takes the results of another one, for all workers.
pub(crate) trait Behind<S: Send>: Send + Sync {
    /// Creates a worker's side of the unit.
    fn carrier(&self) -> Box<dyn CarryOn<S> + '_>;
}

/// One worker's side of a parallel unit that takes the results of another one.
pub(crate) trait CarryOn<S: Send> {
    /// Processes the cells, and drops those behind the index at which the stream has stopped. `cells` is
    /// empty afterwards. Returns how many items the last unit has given.
    fn carry_on(&mut self, cells: &mut Dealt<S>) -> u64;
}
