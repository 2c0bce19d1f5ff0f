//! The border between two domains in the inline executor.

use anabranch_record::lane::{Cell, Exit, Indices, Turn};

use super::input::Input;
use super::measures::Tally;
use super::push::{self, Demand, Out, Push};
use super::quantum::{Quantum, Served};
use super::run::Run;

/// Gives each cell an index of another domain. In other executors, results get their new indices in the order
/// in which they are done. In the inline executor this is the order of the source.
pub(super) struct Reindex<'run, S: Send> {
    exit: Exit,
    indices: Indices,
    out: Out<'run, S>,
}

impl<'run, S: Send> Reindex<'run, S> {
    pub(super) fn new(exit: Exit, indices: Indices, out: Out<'run, S>) -> Self {
        Self { exit, indices, out }
    }
}

impl<S: Send> Push<S> for Reindex<'_, S> {
    fn push(&mut self, turn: &mut Turn, cell: Cell<S>) -> Demand {
        let demand = self.out.push(self.indices.open(), cell);
        if demand == Demand::More {
            self.exit.release(turn);
        }
        demand
    }

    fn serve(&mut self, input: &mut Input<S>, quantum: &mut Quantum, run: &Run) -> Served {
        push::serve(self, input, quantum, run)
    }

    fn take_tally(&mut self) -> Tally {
        Tally::default()
    }
}
