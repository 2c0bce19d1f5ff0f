//! The counters of one node. Each thread has its own on its track; they are raised a few times a claim or a serving.

/// The items that went through a node in one piece of work.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Indices that it took.
    pub(crate) cells: u64,
    /// Items that it took; a source, that it gave.
    pub(crate) items: u64,
    /// Items that it gave.
    pub(crate) given: u64,
}

/// The counts of one node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading {
    pub(crate) tally: Tally,
    /// Nanoseconds that threads have spent in the node.
    pub(crate) spent: u64,
    /// Nanoseconds of these in which they had no processor.
    pub(crate) off: u64,
    /// Pieces of work, and those that were without a processor for half of their time or more.
    pub(crate) pieces: u64,
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

    /// Whether its work waits for something else than a processor, and is not just interrupted: most pieces of it do, or
    /// some do for most of the time while there is a processor for each thread.
    pub(crate) fn waits(&self, is_crowded: bool) -> bool {
        2 * self.slept >= self.pieces || !is_crowded && 3 * self.off >= 2 * self.spent
    }
}
