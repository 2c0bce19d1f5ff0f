//! What is behind a parallel unit: a lane, or another unit. It knows only the type of the first unit's results.

use anabranch_record::lane::{Cell, PutPermit, Putter};

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

/// Where the results of a unit go.
pub(super) enum Rest<'run, S: Send> {
    /// Into the lane behind the whole unit of the plan.
    Lane(Putter<S>),
    /// Into the next unit.
    Unit(Box<dyn Behind<S> + 'run>),
}

/// One worker's side of a [`Rest`].
pub(super) enum RestCarrier<'n, S: Send> {
    Lane(&'n Putter<S>),
    Unit { next: Box<dyn CarryOn<S> + 'n>, gathered: Dealt<S> },
}

impl<S: Send> Rest<'_, S> {
    /// Creates a worker's side.
    pub(super) fn carrier(&self) -> RestCarrier<'_, S> {
        match self {
            Rest::Lane(putter) => RestCarrier::Lane(putter),
            Rest::Unit(behind) => RestCarrier::Unit { next: behind.carrier(), gathered: Vec::new() },
        }
    }
}

impl<S: Send> RestCarrier<'_, S> {
    /// Puts a result, which has `items` items. Returns how many of them the unit of the plan has given so
    /// far: all if the result goes into the lane, and none if the next unit has to process it.
    #[inline]
    pub(super) fn put(&mut self, permit: PutPermit, cell: Cell<S>, items: u64) -> u64 {
        match self {
            RestCarrier::Lane(putter) => {
                putter.put(permit, cell);
                items
            }
            RestCarrier::Unit { gathered, .. } => {
                gathered.push((permit, cell));
                0
            }
        }
    }

    /// Passes the gathered results on to the next unit. Returns how many items the unit of the plan has given
    /// for them.
    pub(super) fn pass_on(&mut self) -> u64 {
        match self {
            RestCarrier::Lane(_) => 0,
            RestCarrier::Unit { next, gathered } => next.carry_on(gathered),
        }
    }
}
