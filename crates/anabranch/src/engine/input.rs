//! Inputs of serial nodes: a lane in the order of the indices, or the results of a parallel unit as they are done.

use anabranch_record::lane::{
    ArrivalSink, ArrivalWatch, Arrived, Cell, Committed, Domain, Exit, Indices, Reader, Stamped, Turn, Watch,
};
use anabranch_record::sync::Arc;

use super::measures::Crossing;
use super::room::RoomNotice;

/// The reading end of a lane, by who writes it.
pub(crate) enum Lane<S> {
    /// A serial node.
    Committed(Committed<S>),
    /// A parallel unit, in the order of the indices.
    Stamped(Stamped<S>),
    /// A parallel unit, in the order in which items are done.
    Arrived(Arrived<S>),
}

/// The input of a serial node.
pub(crate) enum Input<S> {
    /// A lane, in the order of the indices.
    Ordered(Reader<S>),
    /// Cells that arrive in any order, and get an index of a new domain as they are taken.
    Arrivals(Arrivals<S>),
}

/// Where one domain ends and another begins, with the order of arrival as its index.
pub(crate) struct Arrivals<S> {
    drain: Drain<S>,
    indices: Indices,
    /// Told of each index that leaves the one domain and enters the other, if the run is reported.
    crossing: Option<Crossing>,
}

impl<S: Send> Input<S> {
    pub(super) fn arrivals(drain: Drain<S>, indices: Indices, crossing: Option<Crossing>) -> Self {
        Input::Arrivals(Arrivals { drain, indices, crossing })
    }

    /// The next cell and the turn for its index, if there is one and its domain has room.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<(&mut Turn, Cell<S>)> {
        match self {
            Input::Ordered(reader) => reader.take(),
            Input::Arrivals(arrivals) => arrivals.take(),
        }
    }

    /// The turn that was opened last.
    pub(crate) fn turn(&mut self) -> &mut Turn {
        match self {
            Input::Ordered(reader) => reader.turn(),
            Input::Arrivals(arrivals) => arrivals.indices.turn(),
        }
    }

    /// Shows how far the node has come to those who look from outside. To be called before its baton is let go.
    pub(crate) fn show(&self) {
        if let Input::Arrivals(arrivals) = self {
            arrivals.indices.show();
        }
    }

    /// A view on the input for threads that do not hold it.
    pub(crate) fn watch(&self) -> InputWatch<S> {
        match self {
            Input::Ordered(reader) => InputWatch::Ordered(reader.watch()),
            Input::Arrivals(arrivals) => {
                InputWatch::Arrivals(arrivals.drain.watch(), Arc::clone(arrivals.indices.domain()))
            }
        }
    }

    /// Whether taking a cell needs room in a window, so that who makes room must be answered.
    pub(crate) fn needs_room(&self) -> bool {
        matches!(self, Input::Arrivals(_))
    }
}

impl<S: Send> Arrivals<S> {
    #[inline]
    fn take(&mut self) -> Option<(&mut Turn, Cell<S>)> {
        // Room first: a cell that is taken needs an index.
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

/// Looks at an [`Input`] from outside.
pub(crate) enum InputWatch<S> {
    Ordered(Watch<S>),
    Arrivals(DrainWatch<S>, Arc<Domain>),
}

impl<S: Send> InputWatch<S> {
    /// Whether the node would find a cell, and room for it.
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

/// The last port of a domain, for the node behind which another domain begins: its cells, and giving their indices back.
pub(crate) struct Drain<S> {
    port: Port<S>,
    notice: RoomNotice,
}

enum Port<S> {
    Ordered(Reader<S>, Exit),
    Arrived(ArrivalSink<S>),
}

impl<S: Send> Drain<S> {
    /// Reads `lane` to the exit of its domain, whose source is told of room by `notice`.
    pub(super) fn new(lane: Lane<S>, exit: Exit, notice: RoomNotice) -> Self {
        let port = match lane {
            Lane::Committed(lane) => Port::Ordered(lane.reader(), exit),
            Lane::Stamped(lane) => Port::Ordered(lane.reader(), exit),
            Lane::Arrived(lane) => Port::Arrived(lane.sink(exit)),
        };
        Self { port, notice }
    }

    /// Takes the next cell; `None` if there is none, or while the last one was not given back.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Cell<S>> {
        match &mut self.port {
            Port::Ordered(reader, _) => reader.take().map(|(_, cell)| cell),
            Port::Arrived(sink) => sink.take(),
        }
    }

    /// Gives the index of the cell that was taken last back to its domain's source.
    #[inline]
    pub(super) fn release(&mut self) {
        match &mut self.port {
            Port::Ordered(reader, exit) => exit.release(reader.turn()),
            Port::Arrived(sink) => sink.release(),
        }
        self.notice.give();
    }

    pub(super) fn watch(&self) -> DrainWatch<S> {
        match &self.port {
            Port::Ordered(reader, _) => DrainWatch::Ordered(reader.watch()),
            Port::Arrived(sink) => DrainWatch::Arrived(sink.watch()),
        }
    }
}

/// Looks at a [`Drain`] from outside.
pub(crate) enum DrainWatch<S> {
    Ordered(Watch<S>),
    Arrived(ArrivalWatch),
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
