//! Counts the cells that are pushed through a node.

use super::measures::Tally;
use super::run::Run;

/// Counts the cells that are pushed through a node, if somebody needs the counts: a report, a monitor, or a source that gives
/// blocks. The head of the unit takes the counts after each serving.
pub(crate) struct Counter {
    is_on: bool,
    /// The counts that were not taken yet.
    tally: Tally,
}

impl Counter {
    /// Creates the counter of a node. `takes_blocks` says whether the source needs to know what an item costs at the node.
    pub(crate) fn new(run: &Run, takes_blocks: bool) -> Self {
        Self { is_on: run.measures().is_some() || takes_blocks, tally: Tally::default() }
    }

    /// Whether anything is counted.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Adds to the counts.
    #[inline]
    pub(crate) fn add(&mut self, tally: Tally) {
        if self.is_on {
            self.tally.add(tally);
        }
    }

    /// Takes the counts since the last call.
    pub(crate) fn take(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }
}
