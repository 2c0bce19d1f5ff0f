//! The limits of how long a thread serves a serial node before it looks for other work (rule 6).

use super::node::Poked;
use crate::clock::Moment;
use crate::engine::state::site::Site;
use crate::measures::Tally;

/// The largest number of items in one serving.
const SERVING_ITEMS: u32 = if cfg!(shuttle) { 2 } else { 256 };
/// The longest time of one serving, in nanoseconds.
const SERVING_NS: u64 = 100_000;
/// A serving reads the clock once in this many items, until the items are known to be cheap.
const CLOCK_ITEMS: u32 = if cfg!(shuttle) { 1 } else { 32 };

/// How a serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Served {
    /// The next cell is not ready.
    Drained,
    /// The quantum was used up, the run is over, or what takes the results has no room.
    Quantum,
    /// The stream has stopped here.
    Closed,
}

/// One serving: how much of its quantum is used up, and what was served.
pub(crate) struct Quantum {
    /// How many items were served.
    served: u32,
    /// How many items will have been served when the clock is read next.
    look: u32,
    /// Whether the stream has stopped here.
    pub(crate) closed: bool,
    began: Option<Moment>,
    /// How many more items than cells were served.
    surplus: i64,
    /// How many more items the unit gave than it took.
    pub(crate) gain: i64,
    /// The counts of a node that counts its cells itself.
    pub(crate) tally: Tally,
}

impl Quantum {
    pub(crate) fn begin(site: &Site) -> Self {
        Self { look: CLOCK_ITEMS, began: site.clock(), ..Self::unlimited() }
    }

    /// A quantum that is never used up.
    pub(crate) fn unlimited() -> Self {
        let tally = Tally::default();
        Self { served: 0, look: u32::MAX, closed: false, began: None, surplus: 0, gain: 0, tally }
    }

    /// Counts one item. Returns whether the quantum is used up.
    #[inline]
    pub(crate) fn count(&mut self) -> bool {
        self.served += 1;
        self.served >= self.look && self.is_used_up()
    }

    /// Counts the items of a cell that has not one.
    pub(crate) fn count_items(&mut self, items: u64) {
        self.surplus += items as i64 - 1;
    }

    /// The counts of `cells` cells that were served.
    pub(crate) fn tally_of(&self, cells: u64) -> Tally {
        let items = cells.saturating_add_signed(self.surplus);
        Tally { cells, items, given: items.saturating_add_signed(self.gain) }
    }

    #[cold]
    fn is_used_up(&mut self) -> bool {
        let elapsed = self.began.map_or(0, Moment::elapsed);
        // If the first items were this cheap, the limit of items is reached before the limit of time.
        let are_cheap = elapsed < SERVING_NS / u64::from(SERVING_ITEMS / CLOCK_ITEMS);
        self.look = if are_cheap { SERVING_ITEMS } else { self.look + CLOCK_ITEMS };
        self.served >= SERVING_ITEMS || elapsed >= SERVING_NS
    }

    /// Whether nothing was served yet.
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.served == 0
    }

    /// Ends a serving, and measures it. `counts_cells` says whether the node has counted its cells itself. Returns the outcome of
    /// the poke.
    pub(crate) fn end(mut self, site: &Site, counts_cells: bool) -> Poked {
        if counts_cells {
            self.tally.given = self.tally.given.saturating_add_signed(self.gain);
        } else {
            self.tally = self.tally_of(u64::from(self.served + u32::from(self.closed)));
        }
        if self.served == 0 && !self.closed {
            return Poked::Idle;
        }
        if let Some(began) = self.began {
            let nanos = began.elapsed();
            if site.number == 0 {
                site.run.costs.note(site.id, nanos, self.tally.items);
            }
            site.measure(self.tally, began, nanos);
        }
        Poked::Worked
    }
}
