//! A parallel stage whose items are dealt to replicas. Each replica takes its own items in order, one at a
//! time.

use std::collections::VecDeque;

use anabranch_record::Baton;
use anabranch_record::lane::{Cell, Dealer, Turn};
use anabranch_record::sync::{AtomicUsize, Mutex, Ordering, lock};

use crate::clock::Moment;
use crate::engine::UnitKind;
use crate::engine::build::assembly::Assembly;
use crate::engine::nodes::node::{Carrier, Parallel, SerialUnit};
use crate::engine::nodes::step::Kernel;
use crate::engine::stages::unit::WorkerSide;
use crate::engine::state::site::Site;
use crate::measures::Tally;

/// The largest number of cells that are dealt or served at once.
const SHARD_SERVING_ITEMS: u64 = if cfg!(shuttle) { 2 } else { 64 };
/// The longest time of one serving of a shard, in nanoseconds.
const SHARD_SERVING_NS: u64 = 20_000;

/// An item with the number of its shard.
type Dealt<T> = (usize, T);

/// The items of a unit are dealt to shards. Each item comes with the number of its shard.
#[derive(Debug, Clone, Copy)]
pub(super) struct InShards;

impl<T: Send> UnitKind<Dealt<T>> for InShards {
    fn add<'run>(
        self,
        assembly: &mut Assembly<'run>,
        id: usize,
        dealer: Dealer<Dealt<T>>,
        kernel: Kernel<'run, Dealt<T>>,
    ) where
        T: 'run,
    {
        let shards = assembly.plan.nodes[id].replicas.unwrap_or(1);
        assembly.parallel(id, ShardedNode::new(assembly.site(id), dealer, kernel, shards));
    }
}

/// One shard: the cells that were dealt to it, and the baton that a worker needs to run them.
struct Shard<T> {
    /// Only the holder takes cells from the queue. So the items of one shard run one after the other, in
    /// order.
    baton: Baton<()>,
    queue: Mutex<VecDeque<(Turn, Cell<Dealt<T>>)>>,
    /// The length of the queue, for threads that only look.
    len: AtomicUsize,
}

impl<T> Shard<T> {
    fn new() -> Self {
        Self { baton: Baton::new(()), queue: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    fn is_ready(&self) -> bool {
        self.len.load(Ordering::Relaxed) > 0 && self.baton.word().is_free()
    }

    fn push(&self, turn: Turn, cell: Cell<Dealt<T>>) {
        let mut queue = lock(&self.queue);
        queue.push_back((turn, cell));
        self.len.store(queue.len(), Ordering::Relaxed);
    }

    fn pop(&self) -> Option<(Turn, Cell<Dealt<T>>)> {
        let mut queue = lock(&self.queue);
        let first = queue.pop_front();
        self.len.store(queue.len(), Ordering::Relaxed);
        first
    }
}

/// The node of a parallel unit whose items are dealt to replicas.
///
/// A lane cannot keep items apart by replica, so each shard has a queue. The holder of the dealer's baton
/// takes cells from the lane, in order, and turn each into the queue of its shard, with the right to put its result into the lane
/// behind. All queues together hold at most as many items as the window has indices.
pub(super) struct ShardedNode<'run, T: Send> {
    site: Site,
    dealer: Dealer<Dealt<T>>,
    kernel: Kernel<'run, Dealt<T>>,
    baton: Baton<()>,
    shards: Box<[Shard<T>]>,
    /// How many carriers were made.
    carriers: AtomicUsize,
}

impl<'run, T: Send> ShardedNode<'run, T> {
    pub(super) fn new(
        site: Site,
        dealer: Dealer<Dealt<T>>,
        kernel: Kernel<'run, Dealt<T>>,
        shards: usize,
    ) -> Self {
        let shards = std::iter::repeat_with(Shard::new).take(shards).collect();
        Self { site, dealer, kernel, baton: Baton::new(()), shards, carriers: AtomicUsize::new(0) }
    }

    fn has_work(&self) -> bool {
        self.may_deal() || self.shards.iter().any(Shard::is_ready)
    }

    fn may_deal(&self) -> bool {
        self.dealer.ready() > 0 && self.baton.word().is_free()
    }
}

impl<T: Send> ShardedCarrier<'_, '_, T> {
    /// Deals the cells that are ready to the shards, if no other worker deals. Returns whether it dealt any.
    fn deal(&mut self) -> bool {
        let node = self.node;
        let Some(held) = node.baton.try_acquire() else { return false };
        let mut dealt = 0;
        while dealt < SHARD_SERVING_ITEMS
            && let Some((mut claim, mut turn)) = node.dealer.claim(1)
            && let Some(cell) = claim.take()
        {
            dealt += 1;
            let shard = match &cell {
                Cell::Value((shard, _)) => Some(*shard),
                Cell::Batch(batch) => batch.items.first().map(|(shard, _)| *shard),
                Cell::Empty | Cell::Stop(_) => None,
            };
            match shard {
                Some(shard) => node.shards[shard].push(turn, cell),
                None => self.side.carry_one(&mut turn, cell, &mut Tally::default()),
            }
        }
        // The fence in `let_go` also orders the pushes above before the looks at the shards' batons (rule 7).
        held.let_go();
        dealt > 0
    }

    /// Runs the items of one shard for a quantum, if no other worker does. Returns whether it ran any.
    fn serve(&mut self, shard: &Shard<T>) -> bool {
        let node = self.node;
        let Some(held) = shard.baton.try_acquire() else { return false };
        let site = &node.site;
        let began = site.clock().unwrap_or_else(Moment::now);
        let mut tally = Tally::default();
        let _entered = site.enter();
        // If another shard has items too, another worker can take it meanwhile (rule 9).
        if node.has_work() {
            site.run.event.notify();
        }
        while tally.cells < SHARD_SERVING_ITEMS
            && !site.run.is_ending()
            && let Some((mut turn, cell)) = shard.pop()
        {
            self.side.carry_one(&mut turn, cell, &mut tally);
            if began.elapsed() >= SHARD_SERVING_NS {
                break;
            }
        }
        held.let_go();
        if shard.is_ready() {
            site.run.event.notify();
        }
        site.measure(tally, began, began.elapsed());
        tally.cells > 0
    }
}

impl<T: Send> Parallel for ShardedNode<'_, T> {
    fn is_ready(&self) -> bool {
        self.has_work()
    }

    fn taken(&self) -> u64 {
        self.dealer.claimed()
    }

    fn carrier(&self) -> Box<dyn Carrier + '_> {
        let number = self.carriers.fetch_add(1, Ordering::Relaxed);
        let first = first(number, self.shards.len());
        Box::new(ShardedCarrier { node: self, side: WorkerSide::new(&self.site, &self.kernel), first })
    }
}

struct ShardedCarrier<'n, 'run, T: Send> {
    node: &'n ShardedNode<'run, T>,
    side: WorkerSide<'n, 'run, Dealt<T>>,
    /// The shard at which the worker looks first. Each worker begins at another shard, so it mostly serves the same
    /// shards, whose states are in the cache of its core.
    first: usize,
}

/// The shard at which worker `number` looks first: the second one begins half way round, the third and the fourth one at the
/// quarters, and so on.
fn first(number: usize, shards: usize) -> usize {
    let mirrored = (number as u32).reverse_bits();
    ((u64::from(mirrored) * shards as u64) >> 32) as usize
}

impl<T: Send> Carrier for ShardedCarrier<'_, '_, T> {
    fn carry(&mut self, _: &SerialUnit<'_>, _: u64, _: &dyn Fn() -> bool) -> bool {
        let (node, first) = (self.node, self.first);
        let dealt = node.may_deal() && self.deal();
        for step in 0..node.shards.len() {
            let at = (first + step) % node.shards.len();
            if node.shards[at].is_ready() && self.serve(&node.shards[at]) {
                return true;
            }
        }
        // Every shard with items is held by another worker, which looks again after it has released the shard. While
        // this worker held the dealer's baton, others may have left new items in the lane to it. So it wakes a worker
        // if there are any.
        if node.may_deal() {
            node.site.run.event.notify();
        }
        dealt
    }
}
