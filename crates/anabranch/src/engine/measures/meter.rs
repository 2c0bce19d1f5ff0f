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
    /// How many pieces of work there were.
    pub(crate) pieces: u64,
    /// How many pieces of work had no processor for half of their time or more.
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
        self.pieces += other.pieces;
        self.slept += other.slept;
    }

    /// Whether the node's work waits for something other than a processor, for example a disk. A piece of
    /// work that was interrupted also has no processor for a while. So this is true only if at least half of
    /// the pieces count as `slept`, or if there is a processor for each thread and the node had none for two
    /// thirds of its time.
    pub(crate) fn waits(&self, is_crowded: bool) -> bool {
        2 * self.slept >= self.pieces || !is_crowded && 3 * self.off >= 2 * self.spent
    }
}
