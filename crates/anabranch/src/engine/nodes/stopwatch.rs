//! Measures the units of a direct line, in which one thread takes each item to the end before it takes the next one.
//!
//! The clock of one unit runs at a time. When an item goes from one unit to the next, the clock of the first stops and that of the
//! second starts, and the other way round when the item has gone to the end. For a short item this would take longer than the
//! item. So one of several items is measured, and counts for them all.

use std::cell::Cell;
use std::iter;

use anabranch_plan::Plan;
use anabranch_record::sync::Arc;

use crate::clock::Moment;
use crate::engine::state::run::Run;
use crate::measures::track::{self, Event, What};
use crate::measures::{Measures, Reading, Tally};

/// The mean time from one measured item to the next, in nanoseconds. With this distance, about 1 % of the time is spent on
/// measuring.
const PACE_NS: u64 = 50_000;
/// On average at least one in this many items is measured.
const LONGEST_GAP_ITEMS: u64 = 256;
/// Each of this many items at the beginning is measured.
const FIRST_ITEMS: u64 = 64;

/// The measurements of a direct line, on its thread.
pub(crate) struct Stopwatch {
    run: Arc<Run>,
    /// For each node, the id of the first node of its unit.
    units: Box<[usize]>,
    /// For each node, what it has taken.
    taken: Box<[Cell<Tally>]>,
    /// The distance from the last measured item to the next one, in items.
    distance: Cell<u64>,
    /// How many items are left out before the next one is measured.
    left: Cell<u64>,
    /// How many items the current one stands for: itself and those before it that were left out. 0 if it is not measured.
    weight: Cell<u64>,
    /// The last random number.
    random: Cell<u64>,
    /// The unit whose clock runs.
    unit: Cell<usize>,
    /// When its clock was started.
    since: Cell<Moment>,
    /// Whether the unit has given the item and goes on behind it.
    has_given: Cell<bool>,
}

impl Stopwatch {
    /// Starts the clock of the source, for a run that is measured.
    pub(crate) fn start(run: &Arc<Run>, plan: &Plan) -> Self {
        let first = plan.units().flat_map(|unit| iter::repeat_n(unit[0].id.0, unit.len()));
        Self {
            run: Arc::clone(run),
            units: first.collect(),
            taken: iter::repeat_with(Cell::default).take(plan.nodes.len()).collect(),
            distance: Cell::new(1),
            left: Cell::new(0),
            weight: Cell::new(1),
            random: Cell::new(0x9e37_79b9_7f4a_7c15),
            unit: Cell::new(0),
            since: Cell::new(Moment::now()),
            has_given: Cell::new(false),
        }
    }

    fn measures(&self) -> &Measures {
        self.run.measures().expect("a run that is measured")
    }

    /// Node `id` takes a cell with this many items. Returns the unit that gives it.
    #[inline]
    pub(crate) fn enter(&self, id: usize, items: u64) -> usize {
        let taken = &self.taken[id];
        let Tally { cells, items: before, given } = taken.get();
        taken.set(Tally { cells: cells + 1, items: before + items, given });
        let (giver, unit) = (self.unit.get(), self.units[id]);
        if self.weight.get() > 0 && unit != giver {
            self.stop(true);
            self.go(unit, false);
        }
        giver
    }

    /// Node `id` is done with the cell, and the unit that has given it goes on.
    #[inline]
    pub(crate) fn leave(&self, id: usize, giver: usize) {
        // The source gives its items to the node behind it.
        if id == 1 {
            self.next_item();
        } else if self.weight.get() > 0 && self.unit.get() != giver {
            self.stop(false);
            self.go(giver, true);
        }
    }

    /// Decides whether the next item is measured. How long that item takes makes no difference.
    #[inline]
    fn next_item(&self) {
        if self.weight.get() > 0 {
            self.end_item();
        }
        match self.left.get() {
            0 => {
                self.weight.set(self.distance.get());
                self.go(0, false);
            }
            left => {
                self.left.set(left - 1);
                self.weight.set(0);
            }
        }
    }

    /// Ends a measured item, and chooses the next one. The shorter an item takes on average, the more are left out. The distance
    /// is random, so that a source that waits before each 16th item is not always met at the same beat.
    #[cold]
    fn end_item(&self) {
        self.stop(false);
        self.unit.set(0);
        let items = self.taken[1].get().cells;
        if items >= FIRST_ITEMS {
            let mean = self.measures().now() / items;
            let gap = (PACE_NS / mean.max(1)).clamp(1, LONGEST_GAP_ITEMS);
            let distance = 1 + self.random() % (2 * gap - 1);
            self.distance.set(distance);
            self.left.set(distance - 1);
        }
    }

    /// A random number (G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003).
    fn random(&self) -> u64 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        self.random.set(random);
        random
    }

    /// Starts the clock of a unit.
    #[cold]
    fn go(&self, unit: usize, has_given: bool) {
        self.unit.set(unit);
        self.has_given.set(has_given);
        self.since.set(Moment::now());
    }

    /// Stops the clock. `gives` says whether the unit gives an item. Its work afterwards is a piece of work only if it then
    /// gives another one.
    #[cold]
    fn stop(&self, gives: bool) {
        let (measures, weight, began) = (self.measures(), self.weight.get(), self.since.get());
        let nanos = began.elapsed().saturating_sub(measures.clock());
        let (at, what) = (began.since(measures.began()), What::Node(self.unit.get() as u32));
        let is_piece = gives || !self.has_given.get();
        let event = Event { at, nanos, what, items: u64::from(is_piece) };
        track::on_current(|track| track.sample(event, weight, is_piece));
    }

    /// Hands in what the nodes have taken and given.
    pub(crate) fn finish(&self) {
        let measures = self.measures();
        let taken = |id: usize| self.taken.get(id).map_or(Tally::default(), Cell::get);
        let mut first = 0;
        for unit in self.units.chunk_by(|a, b| a == b) {
            let behind = first + unit.len();
            let tally = Tally { given: taken(behind).items, ..taken(first.max(1)) };
            track::on_current(|track| track.count(first, Reading { tally, ..Reading::default() }));
            first = behind;
        }
        // Nothing has ever waited.
        measures.waiting().note(measures.now(), iter::empty());
    }
}
