//! A parallel stage whose items are dealt to replicas. Each replica takes its own items in order, one at a
//! time.

use std::collections::VecDeque;

use anabranch_record::Baton;
use anabranch_record::lane::{Cell, Hop, PutPermit, Stop};
use anabranch_record::sync::{AtomicUsize, Mutex, Ordering, lock};

use super::clock::Moment;
use super::code::{Placed, UnitRunner};
use super::failure::{Cause, caught};
use super::measures::Tally;
use super::node::{Carrier, Parallel, SerialUnit};

/// The largest number of cells that are dealt or served at once.
const SHARD_SERVING_ITEMS: usize = if cfg!(shuttle) { 2 } else { 64 };
/// The longest time of one serving of a shard, in nanoseconds.
const SHARD_SERVING_NS: u64 = 20_000;

/// The function that chooses the shard of a slot. Its result is less than the number of shards.
pub(crate) type ShardOf<S> = fn(&S) -> usize;

/// One shard: the cells that were dealt to it, and the baton that a worker needs to run them.
struct Shard<S> {
    /// Only the holder takes cells from the queue. So the items of one shard run one after the other, in
    /// order.
    baton: Baton<()>,
    queue: Mutex<VecDeque<(PutPermit, Cell<S>)>>,
    /// The length of the queue, for threads that only look.
    len: AtomicUsize,
}

impl<S> Shard<S> {
    fn new() -> Self {
        Self { baton: Baton::new(()), queue: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    fn is_ready(&self) -> bool {
        self.len.load(Ordering::Relaxed) > 0 && self.baton.word().is_free()
    }

    fn push(&self, permit: PutPermit, cell: Cell<S>) {
        let mut queue = lock(&self.queue);
        queue.push_back((permit, cell));
        self.len.store(queue.len(), Ordering::Relaxed);
    }

    fn pop(&self) -> Option<(PutPermit, Cell<S>)> {
        let mut queue = lock(&self.queue);
        let first = queue.pop_front();
        self.len.store(queue.len(), Ordering::Relaxed);
        first
    }
}

/// The node of a parallel unit whose items are dealt to replicas.
///
/// A lane cannot keep items apart by replica, so each shard has a queue. The holder of the dealer's baton
/// takes items from the lane, in order, and puts each into the queue of its shard. With the item goes the
/// [`PutPermit`] by which its result is put into the lane behind. All queues together hold at most as many
/// items as the window has indices.
pub(super) struct ShardedNode<'run, A: Send, B: Send> {
    placed: Placed<'run, A, B>,
    hop: Hop<A, B>,
    shard_of: ShardOf<A>,
    dealer: Baton<()>,
    shards: Box<[Shard<A>]>,
    /// How many carriers were made.
    carriers: AtomicUsize,
}

impl<'run, A: Send, B: Send> ShardedNode<'run, A, B> {
    pub(super) fn new(
        placed: Placed<'run, A, B>,
        hop: Hop<A, B>,
        shard_of: ShardOf<A>,
        shards: usize,
    ) -> Self {
        let shards = std::iter::repeat_with(Shard::new).take(shards).collect();
        Self { placed, hop, shard_of, dealer: Baton::new(()), shards, carriers: AtomicUsize::new(0) }
    }

    fn has_work(&self) -> bool {
        self.may_deal() || self.shards.iter().any(Shard::is_ready)
    }

    fn may_deal(&self) -> bool {
        self.hop.ready() > 0 && self.dealer.word().is_free()
    }

    /// Deals the cells that are ready to the shards, if no other worker deals. Returns whether it dealt any.
    fn deal(&self) -> bool {
        let Some(held) = self.dealer.poke() else { return false };
        let mut dealt = 0;
        while dealt < SHARD_SERVING_ITEMS
            && let Some((permit, cell)) = self.hop.deal()
        {
            dealt += 1;
            match &cell {
                Cell::Value(slot) | Cell::Stop(Some(slot), _) => {
                    self.shards[(self.shard_of)(slot)].push(permit, cell);
                }
                Cell::Empty => self.hop.put(permit, Cell::Empty),
                Cell::Stop(None, stop) => self.hop.put(permit, Cell::Stop(None, *stop)),
            }
        }
        // The fence in `let_go` also orders the pushes above before the looks at the shards' batons (rule 7).
        held.let_go();
        dealt > 0
    }

    /// Runs the items of one shard for a quantum, if no other worker does. Returns whether it ran any.
    fn serve(&self, shard: &Shard<A>, runner: &mut dyn UnitRunner<A, B>) -> bool {
        let Some(held) = shard.baton.poke() else { return false };
        let site = &self.placed.site;
        let began = site.clock().unwrap_or_else(Moment::now);
        let mut tally = Tally::default();
        let _entered = site.enter();
        let mut served = 0;
        // If another shard has items too, another worker can take it meanwhile (rule 9).
        if self.has_work() {
            site.run.event.notify();
        }
        while served < SHARD_SERVING_ITEMS
            && !site.run.is_ending()
            && let Some((permit, cell)) = shard.pop()
        {
            served += 1;
            self.apply(permit, cell, runner, &mut tally);
            if began.elapsed() >= SHARD_SERVING_NS {
                break;
            }
        }
        held.let_go();
        if shard.is_ready() {
            site.run.event.notify();
        }
        tally.cells = served as u64;
        site.measure(tally, began, began.elapsed());
        served > 0
    }

    /// Takes one cell through the unit and puts the result.
    fn apply(&self, permit: PutPermit, cell: Cell<A>, runner: &mut dyn UnitRunner<A, B>, tally: &mut Tally) {
        let index = permit.index();
        let is_late = index > self.hop.domain().stop();
        let (mut cell, mut result) = (Some(cell), None);
        let applied = caught(&mut || {
            let cell = cell.take().filter(|_| !is_late);
            let Some(cell) = cell else { return };
            tally.items += (self.placed.traits.taken)(&cell);
            result = Some(runner.cell(index, cell));
        });
        match (applied, result) {
            (Ok(()), Some(cell)) => {
                tally.given += (self.placed.traits.given)(&cell);
                self.hop.put(permit, cell);
            }
            // The stream has stopped before this index, so no node takes the result.
            (Ok(()), None) => {}
            (Err(payload), _) => {
                self.placed.site.halt(index, Cause::Panic(payload));
                self.hop.put(permit, Cell::Stop(None, Stop::Fail));
                runner.forget();
            }
        }
    }
}

impl<A: Send, B: Send> Parallel for ShardedNode<'_, A, B> {
    fn is_ready(&self) -> bool {
        self.has_work()
    }

    fn taken(&self) -> u64 {
        self.hop.claimed()
    }

    fn carrier(&self) -> Box<dyn Carrier + '_> {
        let number = self.carriers.fetch_add(1, Ordering::Relaxed);
        let first = first(number, self.shards.len());
        Box::new(ShardedCarrier { node: self, runner: self.placed.code.runner(), first })
    }
}

struct ShardedCarrier<'n, A: Send, B: Send> {
    node: &'n ShardedNode<'n, A, B>,
    runner: Box<dyn UnitRunner<A, B> + 'n>,
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

impl<A: Send, B: Send> Carrier for ShardedCarrier<'_, A, B> {
    fn carry(&mut self, _: &SerialUnit<'_>, _: u64, _: &dyn Fn() -> bool) -> bool {
        let Self { node, runner, first } = self;
        let dealt = node.may_deal() && node.deal();
        for step in 0..node.shards.len() {
            let at = (*first + step) % node.shards.len();
            if node.shards[at].is_ready() && node.serve(&node.shards[at], &mut **runner) {
                return true;
            }
        }
        // Every shard with items is held by another worker, which looks again after it has released the shard. While
        // this worker held the dealer's baton, others may have left new items in the lane to it. So it wakes a worker
        // if there are any.
        if node.may_deal() {
            node.placed.site.run.event.notify();
        }
        dealt
    }
}
