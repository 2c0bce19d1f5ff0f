//! The counters of one node. Each thread has its own counters on its track, and adds to them once a claim or
//! a serving.

/// The items that went through a node in one piece of work.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// How many indices the node took.
    pub(crate) cells: u64,
    /// How many items the node took. For a source: how many it gave.
    pub(crate) items: u64,
    /// How many items the node gave.
    pub(crate) given: u64,
}

/// The counts of one node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading {
    pub(crate) tally: Tally,
    /// The time that threads have spent in the node, in nanoseconds.
    pub(crate) spent: u64,
    /// The part of this time in which the threads had no processor, in nanoseconds.
    pub(crate) off: u64,
    /// The part of `off` in which the threads were ready to run, and others had the processors, in nanoseconds.
    pub(crate) delayed: u64,
    /// The part of `off` of which the system does not tell how much of it belongs to `delayed`, in nanoseconds.
    pub(crate) untold: u64,
    /// How many pieces of work there were.
    pub(crate) pieces: u64,
    /// How many pieces of work waited for half of their time or more: they had no processor and were not ready to run. The time in
    /// `delayed` is left out on both sides.
    pub(crate) slept: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, other: Tally) {
        self.cells += other.cells;
        self.items += other.items;
        self.given += other.given;
    }
}

impl Reading {
    pub(crate) fn add(&mut self, other: Reading) {
        self.tally.add(other.tally);
        self.spent += other.spent;
        self.off += other.off;
        self.delayed += other.delayed;
        self.untold += other.untold;
        self.pieces += other.pieces;
        self.slept += other.slept;
    }

    /// Whether the node's work waits for something other than a processor, for example a disk. If the system does not tell
    /// waiting from being ready to run, a piece of work that was interrupted seems to wait, too. So this is true only if
    /// at least half of the pieces count as `slept`, or if the node waited for two thirds of its time without `delayed`, and the
    /// system tells it or there is a processor for each thread.
    pub(crate) fn waits(&self, is_crowded: bool) -> bool {
        let is_sure = self.untold == 0 || !is_crowded;
        2 * self.slept >= self.pieces
            || is_sure && 3 * (self.off - self.delayed) >= 2 * self.spent.saturating_sub(self.delayed)
    }
}
