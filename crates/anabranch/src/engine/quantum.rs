//! How long one thread serves a serial node before it looks for other work (rule 6).

use super::clock::Moment;
use super::line::Poked;
use super::measures::Tally;
use super::site::Site;

/// A serving ends after this many items...
const SERVING_ITEMS: u32 = if cfg!(shuttle) { 2 } else { 256 };
/// ... or after this many nanoseconds...
const SERVING_NS: u64 = 100_000;
/// ... for which it reads the clock every so many items, until the items are known to be cheap.
const CLOCK_ITEMS: u32 = if cfg!(shuttle) { 1 } else { 32 };

/// How a serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Served {
    /// The next cell is not there.
    Drained,
    /// The quantum was used up, or the run is over.
    Quantum,
    /// The stream has stopped here.
    Closed,
}

/// Counts a serving against its quantum.
pub(crate) struct Quantum {
    served: u32,
    /// At this many items it reads the clock.
    look: u32,
    /// The stream has stopped here.
    pub(super) closed: bool,
    began: Option<Moment>,
    /// The items that have passed.
    pub(super) tally: Tally,
}

impl Quantum {
    pub(super) fn begin(site: &Site) -> Self {
        Self { served: 0, look: CLOCK_ITEMS, closed: false, began: site.clock(), tally: Tally::default() }
    }

    /// Counts one item; says whether the quantum is used up.
    #[inline]
    pub(super) fn count(&mut self) -> bool {
        self.served += 1;
        self.served >= self.look && self.is_used_up()
    }

    #[cold]
    fn is_used_up(&mut self) -> bool {
        let elapsed = self.began.map_or(0, Moment::elapsed);
        // If the first few items took so little, all of them are served before the time is up.
        let are_cheap = elapsed < SERVING_NS / u64::from(SERVING_ITEMS / CLOCK_ITEMS);
        self.look = if are_cheap { SERVING_ITEMS } else { self.look + CLOCK_ITEMS };
        self.served >= SERVING_ITEMS || elapsed >= SERVING_NS
    }

    /// Ends the poke of a node that takes a cell each time: counts what was served, and says what became of it.
    pub(super) fn end(mut self, site: &Site) -> Poked {
        self.tally.cells = u64::from(self.served + u32::from(self.closed));
        self.end_counted(site)
    }

    /// As [`end`](Self::end), of a node that has counted its cells itself.
    pub(super) fn end_counted(self, site: &Site) -> Poked {
        if self.served == 0 && !self.closed {
            return Poked::Idle;
        }
        if let Some(began) = self.began {
            site.measure(self.tally, began, began.elapsed());
        }
        Poked::Worked
    }
}
