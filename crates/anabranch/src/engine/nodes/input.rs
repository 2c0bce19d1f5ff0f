//! The inputs of a step: a lane in the order of its indices, the results of a parallel unit in the order in which they
//! are done, or a claim.

use anabranch_record::lane::{
    ArrivalSink, ArrivalWatch, Arrived, Cell, Claim, Committed, Domain, Exit, Indices, Reader, Stamped, Turn,
    Watch,
};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::Arc;

use crate::engine::state::room::RoomNotice;
use crate::measures::Crossing;

// This mutant takes a rule out, to show that a model notices: scripts/mutants.md.
const DROP_AT_THE_STOP: Mutant = Mutant("drop_at_the_stop");

/// The cells that a step takes in one serving, or of one claim.
pub(crate) enum Feed<'f, A> {
    Ordered(&'f mut Reader<A>),
    Arrivals(&'f mut Arrivals<A>),
    /// The cells of a claim, with the turn for their results. Cells behind the index at which `domain` has stopped are not taken.
    Claim {
        claim: Claim<'f, A>,
        turn: Turn,
        domain: &'f Domain,
    },
}

impl<A: Send> Feed<'_, A> {
    /// Takes the next cell, and opens the turn for its index. `None` if no cell is ready, or the domain has no room.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take(&mut self) -> Option<(&mut Turn, Cell<A>)> {
        match self {
            Feed::Ordered(reader) => reader.take(),
            Feed::Claim { claim, turn, domain } => {
                if turn.index() + u64::from(DROP_AT_THE_STOP.is_on()) > domain.stop() {
                    return None;
                }
                claim.take().map(|cell| (turn, cell))
            }
            Feed::Arrivals(arrivals) => arrivals.take(),
        }
    }

    /// The turn that was last opened.
    pub(crate) fn turn(&mut self) -> &mut Turn {
        match self {
            Feed::Ordered(reader) => reader.turn(),
            Feed::Claim { turn, .. } => turn,
            Feed::Arrivals(arrivals) => arrivals.indices.turn(),
        }
    }
}

/// The reading end of a lane. The writer of the lane decides the kind.
pub(crate) enum Lane<S> {
    /// A serial node writes the lane.
    Committed(Committed<S>),
    /// A parallel unit writes the lane, and the order of the indices is kept.
    Stamped(Stamped<S>),
    /// A parallel unit writes the lane, and its results are read in the order in which they are done.
    Arrived(Arrived<S>),
}

/// The input of a serial node.
pub(crate) enum Input<S> {
    /// A lane that is read in the order of its indices.
    Ordered(Reader<S>),
    /// Cells that arrive in any order. Each gets an index of a new domain when it is taken.
    Arrivals(Box<Arrivals<S>>),
}

/// The border between two domains. The index in the second domain is the order of arrival.
pub(crate) struct Arrivals<S> {
    drain: Drain<S>,
    indices: Indices,
    /// Measures the indices that leave the first domain and enter the second, if the run is measured.
    crossing: Option<Crossing>,
}

impl<S: Send> Input<S> {
    pub(crate) fn arrivals(drain: Drain<S>, indices: Indices, crossing: Option<Crossing>) -> Self {
        Input::Arrivals(Box::new(Arrivals { drain, indices, crossing }))
    }

    /// The cells that are ready, for one serving.
    #[inline]
    pub(crate) fn feed(&mut self) -> Feed<'_, S> {
        match self {
            Input::Ordered(reader) => Feed::Ordered(reader),
            Input::Arrivals(arrivals) => Feed::Arrivals(arrivals),
        }
    }

    /// Shows to other threads how many indices the node has made. To be called before its baton is released.
    pub(crate) fn show(&self) {
        if let Input::Arrivals(arrivals) = self {
            arrivals.indices.show();
        }
    }

    /// A view of the input, for threads that do not hold the node's baton.
    pub(crate) fn watch(&self) -> InputWatch<S> {
        match self {
            Input::Ordered(reader) => InputWatch::Ordered(reader.watch()),
            Input::Arrivals(arrivals) => {
                InputWatch::Arrivals(arrivals.drain.watch(), Arc::clone(arrivals.indices.domain()))
            }
        }
    }

    /// Whether taking a cell needs room in a window. If so, the node must look again after its baton is
    /// released, because room may have been made meanwhile.
    pub(crate) fn needs_room(&self) -> bool {
        matches!(self, Input::Arrivals(_))
    }
}

impl<S: Send> Arrivals<S> {
    #[inline]
    fn take(&mut self) -> Option<(&mut Turn, Cell<S>)> {
        // The room is checked first, because each cell that is taken needs an index.
        if self.indices.turn().is_open() || self.indices.room() == 0 || self.indices.domain().is_stopped() {
            return None;
        }
        let cell = self.drain.take()?;
        self.drain.release();
        if let Some(crossing) = &mut self.crossing {
            crossing.next(self.indices.next());
        }
        Some((self.indices.open(), cell))
    }
}

/// A view of an [`Input`], for threads that do not hold the node's baton.
pub(crate) enum InputWatch<S> {
    Ordered(Watch<S>),
    Arrivals(DrainWatch<S>, Arc<Domain>),
}

impl<S: Send> InputWatch<S> {
    /// Whether a cell is ready and has room.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            InputWatch::Ordered(watch) => watch.is_ready(),
            InputWatch::Arrivals(watch, domain) => {
                watch.is_ready() && domain.has_room() && !domain.is_stopped()
            }
        }
    }

    /// How many cells were taken.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        match self {
            InputWatch::Ordered(watch) => watch.taken(),
            InputWatch::Arrivals(watch, _) => watch.taken(),
        }
    }
}

/// The last port of a domain, for a node that begins another domain. It takes cells, and gives their indices
/// back.
pub(crate) struct Drain<S> {
    port: DrainPort<S>,
    notice: RoomNotice,
}

enum DrainPort<S> {
    Ordered(Reader<S>, Exit),
    Arrived(ArrivalSink<S>),
}

impl<S: Send> Drain<S> {
    /// Creates the port that reads `lane` and gives its indices back to `exit`. `notice` tells the domain's
    /// source that there is room.
    pub(crate) fn new(lane: Lane<S>, exit: Exit, notice: RoomNotice) -> Self {
        let port = match lane {
            Lane::Committed(lane) => DrainPort::Ordered(lane.reader(), exit),
            Lane::Stamped(lane) => DrainPort::Ordered(lane.reader(), exit),
            Lane::Arrived(lane) => DrainPort::Arrived(lane.sink(exit)),
        };
        Self { port, notice }
    }

    /// Takes the next cell. `None` if no cell is ready, or if the index of the last cell was not given back
    /// yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn take(&mut self) -> Option<Cell<S>> {
        match &mut self.port {
            DrainPort::Ordered(reader, _) => reader.take().map(|(_, cell)| cell),
            DrainPort::Arrived(sink) => sink.take(),
        }
    }

    /// Gives back the index of the cell that was last taken, and tells the domain's source that there is
    /// room.
    #[inline]
    pub(crate) fn release(&mut self) {
        match &mut self.port {
            DrainPort::Ordered(reader, exit) => exit.release(reader.turn()),
            DrainPort::Arrived(sink) => sink.release(),
        }
        self.notice.give();
    }

    pub(crate) fn watch(&self) -> DrainWatch<S> {
        match &self.port {
            DrainPort::Ordered(reader, _) => DrainWatch::Ordered(reader.watch()),
            DrainPort::Arrived(sink) => DrainWatch::Arrived(sink.watch()),
        }
    }
}

/// A view of a [`Drain`], for threads that do not hold the node's baton.
pub(crate) enum DrainWatch<S> {
    Ordered(Watch<S>),
    Arrived(ArrivalWatch<S>),
}

impl<S: Send> DrainWatch<S> {
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            DrainWatch::Ordered(watch) => watch.is_ready(),
            DrainWatch::Arrived(watch) => watch.is_ready(),
        }
    }

    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        match self {
            DrainWatch::Ordered(watch) => watch.taken(),
            DrainWatch::Arrived(watch) => watch.taken(),
        }
    }
}
