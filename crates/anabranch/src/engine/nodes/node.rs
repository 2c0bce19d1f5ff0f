//! The nodes of a line, as workers see them, without the types of their items.

use anabranch_record::EventCount;
use anabranch_record::sync::Arc;

/// A serial node of a line: the source, a serial stage or the sink.
pub(crate) trait SerialNode: Sync {
    /// Takes the node's baton and runs the node for at most a quantum. If another thread holds the baton, the
    /// poke is counted and the holder looks again.
    ///
    /// `elsewhere` says whether the line has other work. A node that may block does not run while its worker
    /// is alone and there is other work (rule 16).
    fn poke(&self, elsewhere: &dyn Fn() -> bool) -> Poked;

    /// Whether the baton is free and the node would find something to do. Only looks.
    fn is_ready(&self) -> bool;

    /// Whether a thread holds the baton at this moment.
    fn is_held(&self) -> bool;

    /// How many indices the node has taken. For a source: how many items it has given.
    fn taken(&self) -> u64;

    /// How many indices the node has given to the nodes behind it. This equals [`taken`](Self::taken), unless
    /// the node begins a domain.
    fn given(&self) -> u64;

    /// The mean time of a source's pull for each item, in nanoseconds, with the stages that are fused to the source; 0
    /// if it is not known, and for other nodes.
    fn mean_ns(&self) -> u64;
}

/// The outcome of a poke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Poked {
    /// Another thread holds the baton and will look again, or the node is closed.
    Elsewhere,
    /// There was nothing to do.
    Idle,
    /// Something was done.
    Worked,
}

/// The source of a direct line.
pub(crate) trait Drive {
    /// Pulls items and takes each one to the sink, until the stream stops. Returns how many items were
    /// pulled.
    fn drive(&mut self) -> u64;
}

/// A serial unit of a line.
pub(crate) struct SerialUnit<'run> {
    pub(crate) node: Box<dyn SerialNode + Send + 'run>,
    /// The event at which the unit's dedicated thread waits, if it has one.
    pub(crate) own: Option<Arc<EventCount>>,
    /// The name of its first stage, if it has a dedicated thread.
    pub(crate) name: String,
    /// Whether the unit begins with the source of the stream.
    pub(crate) is_source: bool,
}

impl SerialUnit<'_> {
    /// Whether a worker would find something to do here. At a unit with a dedicated thread it finds nothing.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.own.is_none() && self.node.is_ready()
    }
}

/// A parallel unit of a line.
pub(crate) trait Parallel: Sync {
    /// Whether items are ready and a claim is allowed now. Only looks.
    fn is_ready(&self) -> bool;

    /// How many indices were claimed.
    fn taken(&self) -> u64;

    /// Creates one worker's side of the unit.
    fn carrier(&self) -> Box<dyn Carrier + '_>;
}

/// One worker's side of a parallel unit: the worker's state of the stages, and its measurements of their
/// cost.
pub(crate) trait Carrier {
    /// Claims a fair share of the items that are ready and carries them across. If few are ready, it first
    /// makes the node `before` give more. `elsewhere` says whether the line has other work, see
    /// [`SerialNode::poke`]. Returns whether anything was carried.
    fn carry(&mut self, before: &SerialUnit<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool;
}
