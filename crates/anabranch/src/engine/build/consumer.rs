//! The node that takes the items of another one, without its type, while a line is built.

use std::rc::Rc;

use anabranch_record::lane::{Dealer, Outlet};
use anabranch_record::sync::Padded;

use super::assembly::Assembly;
use crate::engine::nodes::input::Lane;
use crate::engine::nodes::step::{Kernel, Step};
use crate::engine::nodes::timed::Timed;

/// The node that takes the items of another one, while a line is built. A line is built from the sink to the
/// source, because the node that gives items must know the node that takes them.
pub(crate) struct Consumer<'run, A: Send> {
    /// The node's id in the plan.
    pub(crate) id: usize,
    pub(crate) end: End<'run, A>,
}

/// How a node takes its items.
pub(crate) enum End<'run, A: Send> {
    /// In order. The plan says whether they come by a call or through a lane.
    Serial(Box<dyn Step<A> + Send + 'run>),
    /// By a call, in a direct line.
    Direct(Box<dyn Step<A> + 'run>),
    /// By a call from the parallel stage before it, or else by claims of a lane.
    Parallel(Box<dyn Parallel<'run, A> + 'run>),
    /// From a lane that the node reads itself. The function adds the node to the line.
    Lane(ReadLane<'run, A>),
}

/// Adds a node to a line, behind a lane.
type ReadLane<'run, A> = Box<dyn FnOnce(&mut Assembly<'run>, Lane<A>) + 'run>;

/// A parallel stage with the stages behind it in its unit, while a line is built.
pub(crate) trait Parallel<'run, A: Send> {
    /// The code of the stages. The last of them puts its results into a lane of `outlet`.
    fn kernel(self: Box<Self>, assembly: &mut Assembly<'run>, outlet: Outlet) -> Kernel<'run, A>;

    /// Adds the unit that begins with the stage, whose cells come from `dealer`.
    fn unit(self: Box<Self>, assembly: &mut Assembly<'run>, dealer: Dealer<A>, outlet: Outlet);
}

impl<'run, A: Send + 'run> Consumer<'run, A> {
    /// The step is on cache lines of its own: the thread that calls it writes in it for each item, and other
    /// threads read what lies beside it.
    pub(crate) fn serial(id: usize, step: impl Step<A> + Send + 'run) -> Self {
        Self { id, end: End::Serial(Box::new(Padded::new(step))) }
    }

    /// The part of a direct line that takes the items of node `id`'s predecessor.
    pub(crate) fn direct(assembly: &Assembly<'run>, id: usize, step: impl Step<A> + 'run) -> Self {
        let step = Box::new(step);
        let step = match assembly.stopwatch() {
            Some(stopwatch) => Box::new(Timed::new(id, assembly.marks(id), Rc::clone(stopwatch), step)),
            None => step as Box<dyn Step<A> + 'run>,
        };
        Self { id, end: End::Direct(step) }
    }

    /// A node that reads its lane itself. `read` adds it to the line.
    pub(crate) fn lane(id: usize, read: impl FnOnce(&mut Assembly<'run>, Lane<A>) + 'run) -> Self {
        Self { id, end: End::Lane(Box::new(read)) }
    }

    /// The part of a direct line that the consumer is.
    pub(crate) fn into_direct(self) -> Box<dyn Step<A> + 'run> {
        match self.end {
            End::Direct(step) => step,
            _ => unreachable!("each node of a direct line takes its items by a direct call"),
        }
    }
}
