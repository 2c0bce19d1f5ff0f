//! The node that takes the items of another one, without its type, while a line is built.

use std::rc::Rc;

use anabranch_record::lane::Outlet;
use anabranch_record::sync::Padded;

use super::assembly::Assembly;
use super::direct::Timed;
use super::input::Lane;
use super::push::{Pass, Push};
use super::unit::Stages;

/// The node that takes the items of another one, while a line is built. A line is built from the sink to the
/// source, because the node that gives items must know the node that takes them.
pub(crate) struct Consumer<'run, S: Send> {
    /// The node's id in the plan.
    pub(crate) id: usize,
    pub(crate) end: End<'run, S>,
}

/// How a node takes its items.
pub(crate) enum End<'run, S: Send> {
    /// Cell by cell, in order. The plan says whether they come by a call or through a lane.
    Push(Box<dyn Push<S> + 'run>),
    /// Value by value, in a direct line.
    Pass(Box<dyn Pass<S> + 'run>),
    /// From a lane that the node reads itself.
    Read(Box<dyn Read<S> + 'run>),
}

impl<'run, S: Send + 'run> Consumer<'run, S> {
    /// The consumer is on cache lines of its own: the thread that pushes writes in it for each item, and other
    /// threads read what lies beside it.
    pub(crate) fn push(id: usize, push: impl Push<S> + 'run) -> Self {
        Self { id, end: End::Push(Box::new(Padded::new(push))) }
    }

    /// The part of a direct line that takes the items of node `id`'s predecessor.
    pub(crate) fn pass(assembly: &Assembly<'run>, id: usize, pass: impl Pass<S> + 'run) -> Self {
        let pass = Box::new(pass);
        let pass = match assembly.stopwatch() {
            Some(stopwatch) => Box::new(Timed::new(assembly, id, Rc::clone(stopwatch), pass)),
            None => pass as Box<dyn Pass<S> + 'run>,
        };
        Self { id, end: End::Pass(pass) }
    }

    /// The part of a direct line that the consumer is, if it is one.
    pub(crate) fn into_pass(self) -> Option<Box<dyn Pass<S> + 'run>> {
        match self.end {
            End::Pass(pass) => Some(pass),
            End::Push(_) | End::Read(_) => None,
        }
    }

    pub(crate) fn read(id: usize, read: impl Read<S> + 'run) -> Self {
        Self { id, end: End::Read(Box::new(read)) }
    }

    /// Puts the consumer behind a parallel stage, whose unit puts its results into a lane of `outlet`. Returns both
    /// unchanged if the consumer is not a parallel stage.
    pub(crate) fn behind(
        self,
        assembly: &mut Assembly<'run>,
        outlet: Outlet,
    ) -> Result<Box<dyn Stages<S> + 'run>, (Self, Outlet)> {
        match self.end {
            End::Read(read) if read.is_stage() => Ok(read.behind(assembly, outlet)),
            end => Err((Self { id: self.id, end }, outlet)),
        }
    }
}

/// A node that reads its lane itself: a parallel stage, or a spreading stage.
pub(crate) trait Read<S: Send> {
    /// Adds the node to the line, behind `lane`.
    fn read<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, lane: Lane<S>)
    where
        Self: 'run;

    /// Whether the node is a parallel stage, which can also be put [behind](Self::behind) another one.
    fn is_stage(&self) -> bool {
        false
    }

    /// Puts the node behind another parallel stage. The last of these stages puts its results into a lane of
    /// `outlet`.
    fn behind<'run>(self: Box<Self>, _: &mut Assembly<'run>, _: Outlet) -> Box<dyn Stages<S> + 'run>
    where
        Self: 'run,
    {
        unreachable!("only parallel stages are composed")
    }
}
