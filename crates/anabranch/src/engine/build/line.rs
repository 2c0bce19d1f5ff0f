//! The line that workers walk: the units of an assembled plan, in the order of the plan.

use std::ops::Range;

use crate::engine::nodes::node::{Parallel, SerialUnit};

/// A parallel unit of a line. The units before and behind it are serial.
pub(crate) struct ParallelUnit<'run> {
    pub(crate) hop: Box<dyn Parallel + Send + 'run>,
    /// The number of the place that gives items to this unit.
    pub(crate) before: usize,
    /// The number of the place that takes this unit's items.
    pub(crate) behind: usize,
}

/// One place of a line: a unit of the plan, in the form in which workers run it.
pub(crate) struct Place<'run> {
    /// The id of the unit's first node.
    pub(crate) id: usize,
    pub(crate) unit: PlaceUnit<'run>,
    /// The part of the line's `links` that begins here.
    pub(crate) links: Range<usize>,
}

/// The unit at a place.
pub(crate) enum PlaceUnit<'run> {
    Serial(SerialUnit<'run>),
    Parallel(ParallelUnit<'run>),
}

impl Place<'_> {
    /// Whether a worker would find something to do here. Only looks, so the answer may be outdated.
    #[inline]
    fn is_ready(&self) -> bool {
        match &self.unit {
            PlaceUnit::Serial(unit) => unit.is_open(),
            PlaceUnit::Parallel(unit) => unit.hop.is_ready(),
        }
    }

    fn given(&self) -> u64 {
        match &self.unit {
            PlaceUnit::Serial(unit) => unit.node.given(),
            PlaceUnit::Parallel(unit) => unit.hop.taken(),
        }
    }

    fn taken(&self) -> u64 {
        match &self.unit {
            PlaceUnit::Serial(unit) => unit.node.taken(),
            PlaceUnit::Parallel(unit) => unit.hop.taken(),
        }
    }
}

/// The progress of one place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// The id of the unit's first node.
    pub(crate) id: usize,
    /// How many indices the unit has taken.
    pub(crate) taken: u64,
    /// How many items wait before the unit.
    pub(crate) waiting: u64,
    /// Whether a thread runs the unit at this moment. `None` for a parallel unit, where it is not known.
    pub(crate) running: Option<bool>,
}

/// A line: the units of a plan, each after the units that give it items.
///
/// The line lies on cache lines of its own. It is on the caller's stack, where a variable that a stage writes
/// may be next to it.
#[repr(align(128))]
pub(crate) struct Line<'run> {
    pub(crate) places: Vec<Place<'run>>,
    /// Pairs of places: the first one gives items to the second. The pairs are sorted.
    links: Vec<(usize, usize)>,
}

impl<'run> Line<'run> {
    /// Creates a line of places in the order of their ids. In each of the `links`, the first place gives
    /// items to the second.
    pub(crate) fn new(mut places: Vec<Place<'run>>, mut links: Vec<(usize, usize)>) -> Self {
        links.sort_unstable();
        let mut next = 0;
        for (at, place) in places.iter_mut().enumerate() {
            let first = next;
            next += links[first..].iter().take_while(|&&(from, _)| from == at).count();
            place.links = first..next;
            if let PlaceUnit::Parallel(unit) = &mut place.unit {
                let before = links.iter().find(|&&(_, to)| to == at);
                unit.before = before.expect("a parallel unit takes items").0;
                unit.behind = links[first..next].first().expect("a parallel unit gives items").1;
            }
        }
        Self { places, links }
    }

    /// The serial unit at place `at`. `None` if the unit there is parallel.
    #[inline]
    pub(crate) fn serial_unit(&self, at: usize) -> Option<&SerialUnit<'run>> {
        match &self.places[at].unit {
            PlaceUnit::Serial(unit) => Some(unit),
            PlaceUnit::Parallel(_) => None,
        }
    }

    /// The serial units.
    pub(crate) fn serial_units(&self) -> impl Iterator<Item = &SerialUnit<'run>> {
        (0..self.places.len()).filter_map(|at| self.serial_unit(at))
    }

    /// The places that take the items of place `at`.
    #[inline]
    pub(crate) fn behind(&self, at: usize) -> impl Iterator<Item = usize> {
        self.links[self.places[at].links.clone()].iter().map(|&(_, to)| to)
    }

    /// Yields one `()` for each place from `from` on at which a worker would find something to do. Only
    /// looks, so the answer may be outdated.
    pub(crate) fn ready_from(&self, from: usize) -> impl Iterator<Item = ()> {
        self.places[from..].iter().filter(|place| place.is_ready()).map(drop)
    }

    /// The progress of each place.
    pub(crate) fn standings(&self) -> impl Iterator<Item = Standing> {
        self.places.iter().enumerate().map(|(at, place)| {
            let taken = place.taken();
            let before = self.links.iter().filter(move |&&(_, to)| to == at).map(|&(from, _)| from);
            Standing {
                id: place.id,
                taken,
                waiting: before.map(|from| self.places[from].given().saturating_sub(taken)).sum(),
                running: self.serial_unit(at).map(|unit| unit.node.is_held()),
            }
        })
    }

    /// How many items were pulled from the source.
    pub(crate) fn pulled(&self) -> u64 {
        self.serial_units().filter(|unit| unit.is_source).map(|unit| unit.node.taken()).sum()
    }
}
