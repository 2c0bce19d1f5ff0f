//! A parallel stage whose items are dealt to replicas. Each replica takes its own items in order, one at a
//! time.

use std::collections::VecDeque;

use anabranch_record::Baton;
use anabranch_record::lane::{Cell, Hop, PutPermit, Stop};
use anabranch_record::sync::{AtomicUsize, Mutex, Ordering, lock};

use super::cell::{items_in, through_unit};
use super::clock::Moment;
use super::failure::{Cause, caught, caught_drop};
use super::hop::{Carrier, Parallel};
use super::line::Station;
use super::measures::Tally;
use super::site::Spot;
use crate::unit::{Apply, Given, Taken, Unit};

/// The largest number of cells that are dealt or served at once.
const SERVING_ITEMS: usize = if cfg!(shuttle) { 2 } else { 64 };
/// The longest time of one serving of a shard, in nanoseconds.
const SERVING_NS: u64 = 20_000;

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
pub(super) struct ShardedNode<U: Unit, E> {
    spot: Spot<E>,
    hop: Hop<Taken<U>, Given<U>>,
    unit: U,
    shard_of: ShardOf<Taken<U>>,
    dealer: Baton<()>,
    shards: Box<[Shard<Taken<U>>]>,
    /// How many carriers were made.
    carriers: AtomicUsize,
}

impl<U: Unit, E> ShardedNode<U, E> {
    pub(super) fn new(
        spot: Spot<E>,
        hop: Hop<Taken<U>, Given<U>>,
        unit: U,
        shard_of: ShardOf<Taken<U>>,
        shards: usize,
    ) -> Self {
        let shards = std::iter::repeat_with(Shard::new).take(shards).collect();
        Self { spot, hop, unit, shard_of, dealer: Baton::new(()), shards, carriers: AtomicUsize::new(0) }
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
        while dealt < SERVING_ITEMS
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
    fn serve(&self, shard: &Shard<Taken<U>>, local: &mut Option<U::Local>) -> bool
    where
        U: Apply<E>,
    {
        let Some(held) = shard.baton.poke() else { return false };
        let began = self.spot.clock().unwrap_or_else(Moment::now);
        let mut tally = Tally::default();
        let _entered = self.spot.enter();
        let mut served = 0;
        // If another shard has items too, another worker can take it meanwhile (rule 9).
        if self.has_work() {
            self.spot.run.event.notify();
        }
        while served < SERVING_ITEMS
            && !self.spot.run.is_ending()
            && let Some((permit, cell)) = shard.pop()
        {
            served += 1;
            self.apply(permit, cell, local, &mut tally);
            if began.elapsed() >= SERVING_NS {
                break;
            }
        }
        held.let_go();
        if shard.is_ready() {
            self.spot.run.event.notify();
        }
        tally.cells = served as u64;
        self.spot.measure(tally, began, began.elapsed());
        served > 0
    }

    /// Takes one cell through the unit and puts the result.
    fn apply(&self, permit: PutPermit, cell: Cell<Taken<U>>, local: &mut Option<U::Local>, tally: &mut Tally)
    where
        U: Apply<E>,
    {
        let index = permit.index();
        let is_late = index > self.hop.domain().stop();
        let (mut cell, mut result) = (Some(cell), None);
        let applied = caught(&mut || {
            let cell = cell.take().filter(|_| !is_late);
            let Some(cell) = cell else { return };
            let local = local.get_or_insert_with(|| self.unit.local());
            tally.items += items_in::<U::From, U::In>(&cell);
            result = Some(through_unit(&self.spot, index, cell, &self.unit, local));
        });
        match (applied, result) {
            (Ok(()), Some(cell)) => {
                tally.given += items_in::<U::To, U::Out>(&cell);
                self.hop.put(permit, cell);
            }
            // The stream has stopped before this index, so no node takes the result.
            (Ok(()), None) => {}
            (Err(payload), _) => {
                self.spot.halt(index, Cause::Panic(payload));
                self.hop.put(permit, Cell::Stop(None, Stop::Fail));
                // If this drop panics too, the panic that was noted first counts.
                let _ = caught_drop(local.take());
            }
        }
    }
}

impl<U: Apply<E>, E: Send> Parallel for ShardedNode<U, E> {
    fn is_ready(&self) -> bool {
        self.has_work()
    }

    fn taken(&self) -> u64 {
        self.hop.claimed()
    }

    fn carrier(&self) -> Box<dyn Carrier + '_> {
        let number = self.carriers.fetch_add(1, Ordering::Relaxed);
        Box::new(ShardedCarrier { node: self, local: None, first: first(number, self.shards.len()) })
    }
}

struct ShardedCarrier<'n, U: Unit, E> {
    node: &'n ShardedNode<U, E>,
    local: Option<U::Local>,
    /// The shard at which the worker looks first. Each worker begins elsewhere, and so a worker mostly serves the same shards,
    /// whose states are in the cache of its core.
    first: usize,
}

/// The shard at which worker `number` looks first: the second one begins half way round, the third and the fourth one at the
/// quarters, and so on.
fn first(number: usize, shards: usize) -> usize {
    let mirrored = (number as u32).reverse_bits();
    ((u64::from(mirrored) * shards as u64) >> 32) as usize
}

impl<U: Apply<E>, E: Send> Carrier for ShardedCarrier<'_, U, E> {
    fn carry(&mut self, _: &Station<'_>, _: u64, _: &dyn Fn() -> bool) -> bool {
        let Self { node, local, first } = self;
        let dealt = node.may_deal() && node.deal();
        for step in 0..node.shards.len() {
            let at = (*first + step) % node.shards.len();
            if node.shards[at].is_ready() && node.serve(&node.shards[at], local) {
                return true;
            }
        }
        // Every shard with items is held by another worker, which looks again after it has released the
        // shard. But a worker that found the dealer's baton held has left new items in the lane to this
        // worker.
        if node.may_deal() {
            node.spot.run.event.notify();
        }
        dealt
    }
}
