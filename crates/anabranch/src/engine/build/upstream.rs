//! The code of a node and of all nodes before it, without their types.

use super::assembly::Assembly;
use super::consumer::Consumer;
use crate::engine::nodes::pull::SourceEnd;
use crate::engine::state::weight::Weigher;

/// The code of a node whose results are `S`, and of all nodes before it. The plan says how the code runs.
pub(crate) trait Upstream<S: Send>: Send {
    /// Returns the same code with its items weighed. Only a source is weighed.
    fn weighed<'w>(self: Box<Self>, _: Weigher<'w, S>) -> Box<dyn Upstream<S> + 'w>
    where
        Self: 'w,
    {
        unreachable!("only a source is weighed")
    }

    /// Returns the code of a source, to be asked for many items at a time. Only a source is asked for this.
    fn in_blocks<'w>(self: Box<Self>) -> Box<dyn Blocks<S> + 'w>
    where
        Self: 'w,
    {
        unreachable!("only a source gives blocks")
    }

    /// Adds the nodes to the line, in front of `consumer`.
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, S>)
    where
        Self: 'run;
}

/// The code of a source that is asked for many items at a time, without the types of the source and of its errors.
pub(crate) trait Blocks<S: Send>: Send {
    /// Adds up to `most` items to `block`. Returns how the source ended, if it gave fewer. The error of an item that
    /// failed is in the slot of the source's errors.
    fn fill(&mut self, most: usize, block: &mut Vec<S>) -> Option<SourceEnd<()>>;

    /// The largest number of items that the source will give, if it is known.
    fn upper(&self) -> Option<usize>;
}
