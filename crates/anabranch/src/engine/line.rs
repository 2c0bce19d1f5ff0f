//! The line that workers walk: the places of an assembled plan, in the order of the plan.

use anabranch_record::EventCount;
use anabranch_record::sync::Arc;

use super::hop::Parallel;

/// A serial node of a line: the source, a serial stage or the sink.
pub(crate) trait SerialNode: Sync {
    /// Takes the node's baton and runs it as long as a quantum allows, or leaves the poke to its holder.
    ///
    /// A node that may block for what comes next first leaves it to its only worker to do what there is `elsewhere`.
    fn poke(&self, elsewhere: &dyn Fn() -> bool) -> Poked;

    /// Whether the baton is free and the node would find something to do. Only looks.
    fn is_ready(&self) -> bool;

    /// Whether a thread holds the baton just now.
    fn is_held(&self) -> bool;

    /// How many indices it has taken; a source, how many items it has given.
    fn taken(&self) -> u64;

    /// How many indices it has put behind itself: as many as it has taken, unless it begins a domain.
    fn given(&self) -> u64;

    /// Nanoseconds of one call, as far as known: a worker that is about to claim pulls for itself from a source only while
    /// that is quick.
    fn mean_ns(&self) -> u64;
}

/// Asks the source until the stream stops: the inline executor.
pub(crate) trait Drive {
    /// Gives how many items were pulled.
    fn drive(&mut self) -> u64;
}

/// The outcome of a poke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Poked {
    /// Another thread holds the baton and will look again; or the node is closed.
    Elsewhere,
    /// There was nothing to do.
    Idle,
    /// Something was done.
    Worked,
}

/// A serial unit, and the event of its own thread if it has one.
pub(crate) struct Station<'run> {
    pub(crate) node: Box<dyn SerialNode + Send + 'run>,
    pub(crate) own: Option<Arc<EventCount>>,
    /// It has no serial node before it in the line, but gives the items.
    pub(crate) is_source: bool,
}

impl Station<'_> {
    /// Whether a worker would find something to do here. A dedicated node has its own thread.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.own.is_none() && self.node.is_ready()
    }
}

/// A parallel unit and its neighbours, which are serial.
pub(crate) struct Farm<'run> {
    pub(crate) hop: Box<dyn Parallel + Send + 'run>,
    /// The place that gives it items, and the place that takes what it gives.
    pub(crate) before: usize,
    pub(crate) behind: usize,
}

/// A unit of the plan, as workers see it.
pub(crate) enum Place<'run> {
    Serial(Station<'run>),
    Parallel(Farm<'run>),
}

/// How a place stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// The id of the unit's first node.
    pub(crate) id: usize,
    pub(crate) taken: u64,
    /// Items that wait before it.
    pub(crate) waiting: u64,
    /// Whether a thread is in it; of a parallel unit it is not known.
    pub(crate) running: Option<bool>,
}

/// A line: the places of a plan, each after those that give it items.
///
/// On cache lines of its own: it lies on the caller's stack, perhaps beside what a stage counts in.
#[repr(align(128))]
pub(crate) struct Line<'run> {
    pub(crate) places: Vec<Place<'run>>,
    /// The id of the first node of each place's unit.
    pub(super) ids: Vec<usize>,
    /// Pairs of places of which the first gives items to the second, ordered.
    pub(super) links: Vec<(usize, usize)>,
}

impl<'run> Line<'run> {
    /// The serial unit at `at`, if it is one.
    #[inline]
    pub(crate) fn station(&self, at: usize) -> Option<&Station<'run>> {
        match &self.places[at] {
            Place::Serial(station) => Some(station),
            Place::Parallel(_) => None,
        }
    }

    /// The serial units.
    pub(crate) fn stations(&self) -> impl Iterator<Item = &Station<'run>> {
        self.places.iter().filter_map(|place| match place {
            Place::Serial(station) => Some(station),
            Place::Parallel(_) => None,
        })
    }

    /// The places that take what the one at `at` gives.
    pub(crate) fn behind(&self, at: usize) -> impl Iterator<Item = usize> {
        let first = self.links.partition_point(|&(from, _)| from < at);
        self.links[first..].iter().take_while(move |&&(from, _)| from == at).map(|&(_, to)| to)
    }

    /// The places from `from` on at which a worker would find something to do, as far as a look can tell.
    pub(crate) fn ready_from(&self, from: usize) -> impl Iterator<Item = ()> {
        let is_ready = |place: &Place<'_>| match place {
            Place::Serial(station) => station.is_open(),
            Place::Parallel(farm) => farm.hop.is_ready(),
        };
        self.places[from..].iter().filter(move |place| is_ready(place)).map(drop)
    }

    fn given(&self, at: usize) -> u64 {
        match &self.places[at] {
            Place::Serial(station) => station.node.given(),
            Place::Parallel(farm) => farm.hop.taken(),
        }
    }

    fn taken(&self, at: usize) -> u64 {
        match &self.places[at] {
            Place::Serial(station) => station.node.taken(),
            Place::Parallel(farm) => farm.hop.taken(),
        }
    }

    /// How each place stands.
    pub(crate) fn standings(&self) -> impl Iterator<Item = Standing> {
        (0..self.places.len()).map(|at| {
            let taken = self.taken(at);
            let given = self.links.iter().filter(|&&(_, to)| to == at).map(|&(from, _)| self.given(from));
            Standing {
                id: self.ids[at],
                taken,
                waiting: given.map(|given| given.saturating_sub(taken)).sum(),
                running: self.station(at).map(|station| station.node.is_held()),
            }
        })
    }

    /// How many items were asked of the sources.
    pub(crate) fn pulled(&self) -> u64 {
        self.stations().filter(|station| station.is_source).map(|station| station.node.taken()).sum()
    }
}
