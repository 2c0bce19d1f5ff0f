//! The code of a node and of all nodes before it, without their types.

use super::assembly::Assembly;
use super::consumer::Consumer;

/// The code of a node whose results are `S`, and of all nodes before it. The plan says how the code runs.
pub(crate) trait Upstream<S: Send>: Send {
    /// Adds the nodes to the line, in front of `consumer`.
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, S>)
    where
        Self: 'run;
}
