//! The branches of a fork in the inline executor, which takes each item through them one after the other.

use anabranch_record::lane::Reader;

use super::push::{Demand, Push};

/// A branch in the inline executor.
pub(crate) trait Step: Send {
    /// Takes the next cell through the branch.
    fn step(&mut self);
}

/// The first node of a branch, and what is behind it.
pub(super) struct BranchStep<'run, T: Send> {
    pub(super) reader: Reader<T>,
    pub(super) push: Box<dyn Push<T> + 'run>,
}

impl<T: Send> Step for BranchStep<'_, T> {
    fn step(&mut self) {
        if let Some((turn, cell)) = self.reader.take() {
            self.push.push(turn, cell);
        }
    }
}

/// A join in the inline executor.
pub(crate) trait JoinStep: Send {
    /// Whether branch `number`, which has put its cell, has failed.
    fn has_failed(&mut self, number: usize) -> bool;

    /// Joins the cells of the branches, and passes the result on. The stream stops here if a branch has failed.
    fn step(&mut self) -> Demand;
}

/// What the fork calls for each item in the inline executor.
pub(super) struct InlineBranches<'run> {
    pub(super) branches: Vec<Box<dyn Step + 'run>>,
    pub(super) join: Box<dyn JoinStep + 'run>,
}

impl InlineBranches<'_> {
    /// Takes the cells that the fork has put through the branches and the join. A branch that fails is the last that runs.
    pub(super) fn step(&mut self) -> Demand {
        let Self { branches, join } = self;
        for (number, branch) in branches.iter_mut().enumerate() {
            branch.step();
            if join.has_failed(number) {
                break;
            }
        }
        join.step()
    }
}
