//! The length of the blocks in which a source that never waits gives its items.
//!
//! A block is one cell of a lane. A stage takes a whole block through its code in one tight loop, and what the protocol
//! costs for a cell is shared by the items of the block. A block has at most as many items as the slowest node handles
//! in [`BLOCK_NS`], so uneven items delay other workers no more than in claims of single items.

use anabranch_plan::{Burst, Plan};
use anabranch_record::sync::{AtomicU64, Ordering};

use crate::clock::Mean;

/// A block has at most as many items as the node that takes the longest for an item handles in this many nanoseconds.
const BLOCK_NS: u64 = 20_000;
/// The largest number of items in a block.
const BLOCK_ITEMS: u64 = 2_048;
/// Each worker has at least this many blocks to claim, as far as the window and the rest of the source allow.
const BLOCKS_A_WORKER: u64 = 4;

/// The cost of an item at each node, while the source gives blocks. The nodes measure it, and the source reads it.
#[derive(Debug, Default)]
pub(crate) struct ItemCosts(Box<[AtomicU64]>);

impl ItemCosts {
    /// The costs at the nodes of `plan`. Nothing is measured if its items do not travel in blocks.
    pub(crate) fn new(plan: &Plan) -> Self {
        let nodes = if is_in_blocks(plan) { plan.nodes.len() } else { 0 };
        Self((0..nodes).map(|_| AtomicU64::new(0)).collect())
    }

    /// Notes that node `id` has handled `items` items in `nanos` nanoseconds.
    ///
    /// If two workers do this at once, one may overwrite what the other has noted. Either value will do.
    #[inline]
    pub(crate) fn note(&self, id: usize, nanos: u64, items: u64) {
        if let Some(bits) = self.0.get(id) {
            let mut mean = Mean::from_bits(bits.load(Ordering::Relaxed));
            mean.update(nanos, items);
            bits.store(mean.bits(), Ordering::Relaxed);
        }
    }

    /// The cost of an item at the node where it is the highest.
    fn highest(&self) -> Mean {
        Mean::from_bits(self.0.iter().map(|bits| bits.load(Ordering::Relaxed)).max().unwrap_or(0))
    }
}

/// Whether the items of `plan` travel in blocks.
pub(crate) fn is_in_blocks(plan: &Plan) -> bool {
    plan.nodes.first().is_some_and(|source| source.in_blocks)
}

/// Chooses the length of each block of a source.
#[derive(Debug)]
pub(crate) struct Length {
    /// The number of items in each block, if it was set.
    burst: Option<u64>,
    /// The largest number of items in a block.
    most: u64,
    /// The length of the last block.
    last: u64,
}

impl Length {
    /// The lengths of the blocks of the source of `plan`. They are 1 if its items do not travel in blocks.
    pub(crate) fn new(plan: &Plan) -> Self {
        let (settings, window) = (&plan.settings, plan.domains[0].window as u64);
        let share = window / BLOCKS_A_WORKER.saturating_mul(settings.workers.max(1) as u64);
        let burst = match settings.burst {
            Burst::Fixed(items) => Some((items as u64).min(window)),
            Burst::Adaptive => None,
        };
        if is_in_blocks(plan) {
            Self { burst, most: share.clamp(1, BLOCK_ITEMS), last: 1 }
        } else {
            Self { burst: None, most: 1, last: 1 }
        }
    }

    /// The number of items in the next block. `left` is the largest number of items that the source will still give, if
    /// it is known.
    pub(crate) fn next(&mut self, costs: &ItemCosts, left: Option<usize>, workers: usize) -> u64 {
        if let Some(burst) = self.burst {
            return burst;
        }
        let highest = costs.highest();
        // The length at most doubles from block to block. So a few cheap items do not lead to a long block of expensive
        // ones.
        let enough = if highest.is_known() { highest.items_in(BLOCK_NS).min(2 * self.last) } else { 1 };
        let share = left.map_or(u64::MAX, |left| left as u64 / (BLOCKS_A_WORKER * workers.max(1) as u64));
        self.last = enough.min(self.most).min(share).max(1);
        self.last
    }

    /// The number of items in the next block of a direct line, which measures whole blocks.
    pub(crate) fn next_direct(&self) -> u64 {
        self.burst.unwrap_or(self.last)
    }

    /// Notes that a direct line took a block from the source to the sink in `nanos` nanoseconds.
    pub(crate) fn took(&mut self, nanos: u64) {
        if nanos <= BLOCK_NS / 2 {
            self.last = (2 * self.last).min(self.most);
        } else if nanos > BLOCK_NS {
            self.last = (self.last / 2).max(1);
        }
    }
}
