//! Parallel units: parallel stages that are composed in one type, and how a unit becomes part of a line.

use std::ops::Range;

use anabranch_record::ThreadBound;
use anabranch_record::lane::{Cell, Outlet, Turn};
use anabranch_record::sync::Arc;

use super::assembly::{Assembly, Read, Taker, Upstream};
use super::behind::Behind;
use super::cell::{items_in, through_unit};
use super::counter::Counter;
use super::direct::{DirectUnit, Onward, Step, pass_of};
use super::failure::ErrorSlot;
use super::hop::HopNode;
use super::input::{Input, Lane};
use super::joint;
use super::measures::Tally;
use super::push::{Demand, Out, Push};
use super::quantum::{Quantum, Served};
use super::run::Run;
use super::shards::{ShardOf, ShardedNode};
use super::site::Spot;
use crate::shape::Shape;
use crate::unit::{Apply, Given, Identity, Taken, Unit};

/// The code of a stream to which stages can still be added: everything up to the last serial node, and the
/// parallel unit behind it.
pub(crate) struct Tail<'env, U: Unit, E> {
    pub(crate) upstream: Box<dyn Upstream<Taken<U>> + 'env>,
    pub(crate) unit: U,
    pub(crate) errors: Arc<ErrorSlot<E>>,
    /// The nodes of the unit in the plan. Empty if the unit does nothing.
    pub(crate) ids: Range<usize>,
    /// Nodes with smaller ids belong to `upstream`, also those that the plan composes with the unit.
    pub(crate) from: usize,
    /// The function that chooses the shard of an item, if items are dealt to replicas.
    pub(crate) shard: Option<ShardOf<Taken<U>>>,
}

impl<'env, T: Send, S: Shape, E> Tail<'env, Identity<T, S>, E> {
    /// The code of a stream that ends with a serial node: the unit behind it does nothing.
    pub(crate) fn open(upstream: Box<dyn Upstream<S::Slot<T>> + 'env>, errors: Arc<ErrorSlot<E>>) -> Self {
        Self::behind(upstream, errors, 0)
    }

    /// Behind everything that belongs to `upstream`, which are the nodes below `from`: a unit that does nothing.
    pub(crate) fn behind(
        upstream: Box<dyn Upstream<S::Slot<T>> + 'env>,
        errors: Arc<ErrorSlot<E>>,
        from: usize,
    ) -> Self {
        Self { upstream, unit: Identity::new(), errors, ids: 0..0, from, shard: None }
    }
}

impl<U, E> Tail<'_, U, E>
where
    U: Apply<E> + Send,
    E: Send,
{
    /// Adds the unit and everything before it to the line, in front of `taker`, which is no unit.
    pub(crate) fn connect<'run>(self, assembly: &mut Assembly<'run>, taker: Taker<'run, Given<U>>)
    where
        Self: 'run,
    {
        self.connect_in::<false>(assembly, taker);
    }

    /// Adds the unit and everything before it to a direct line, in front of `next`.
    pub(crate) fn connect_direct<'run>(self, assembly: &mut Assembly<'run>, next: impl Step<U::Out> + 'run)
    where
        Self: 'run,
    {
        let Self { upstream, unit, errors, ids, .. } = self;
        let spot = assembly.spot(ids.start, &errors);
        let unit = DirectUnit { spot, unit, local: None, next };
        upstream.connect(assembly, Taker::pass(ids.start, unit));
    }

    /// Like [`connect`](Self::connect). In a box, `taker` may be the next unit.
    fn connect_in<'run, const BOX: bool>(self, assembly: &mut Assembly<'run>, taker: Taker<'run, Given<U>>)
    where
        Self: 'run,
    {
        let Self { upstream, unit, errors, ids, from, shard } = self;
        let taker = match U::bypass(taker) {
            Ok(taker) => return upstream.connect(assembly, taker),
            Err(taker) => taker,
        };
        let id = ids.start;
        if assembly.is_direct() {
            let tail = Self { upstream, unit, errors, ids, from, shard };
            return tail.connect_direct(assembly, Onward::<U::To, U::Out>(pass_of(taker)));
        }
        if assembly.is_inline() {
            let whole = assembly.unit_of(id);
            let spot = assembly.spot(whole.start, &errors);
            let counter = assembly.counter(whole.start);
            let (is_first, is_last) = (ids.start == whole.start, ids.end == whole.end);
            let out = assembly.after_unit_inline(ids.end - 1, taker);
            let call = UnitCall { spot, counter, unit, local: None, out, is_first, is_last };
            upstream.connect(assembly, Taker::push(id, call));
        } else {
            let reading = UnitRead::<_, _, BOX> { unit, errors, ids, shard, taker };
            upstream.connect(assembly, Taker::read(id, reading));
        }
    }
}

/// A parallel unit that reads a lane. Workers claim ranges of the lane. `BOX` tells whether the unit is in a
/// box, so that another unit may follow.
struct UnitRead<'run, U: Unit, E, const BOX: bool> {
    unit: U,
    errors: Arc<ErrorSlot<E>>,
    ids: Range<usize>,
    shard: Option<ShardOf<Taken<U>>>,
    taker: Taker<'run, Given<U>>,
}

impl<U, E, const BOX: bool> Read<Taken<U>> for UnitRead<'_, U, E, BOX>
where
    U: Apply<E> + Send,
    E: Send,
{
    fn read<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, lane: Lane<Taken<U>>)
    where
        Self: 'run,
    {
        let Self { unit, errors, ids, shard, taker } = *self;
        let Lane::Committed(lane) = lane else {
            unreachable!("the node before a parallel unit is serial, because parallel stages are composed")
        };
        let spot = assembly.spot(ids.start, &errors);
        // `BOX` is tested by itself: where it is false, the rest is not compiled.
        if BOX && taker.is_unit() {
            debug_assert!(shard.is_none(), "a unit with shards is not boxed");
            let claims = assembly.claims(assembly.unit_of(ids.start));
            let (dealer, outlet) = lane.dealer();
            let Ok(rest) = taker.behind(assembly, outlet) else { unreachable!("it is a unit") };
            return assembly.parallel(ids.start, joint::first(spot, unit, dealer, claims, rest));
        }
        let (hop, lane) = if spot.gives_arrivals {
            let (hop, lane) = lane.unordered_hop();
            (hop, Lane::Arrived(lane))
        } else {
            let (hop, lane) = lane.hop();
            (hop, Lane::Stamped(lane))
        };
        let node = &assembly.plan.nodes[ids.start];
        // The condition is the constant alone. If the constant is false, the node of shards is not compiled.
        if U::IS_DEALT {
            let shard_of =
                shard.expect("a stage that deals items to shards has a function that chooses the shard");
            let shards = node.replicas.unwrap_or(1);
            assembly.parallel(ids.start, ShardedNode::new(spot, hop, unit, shard_of, shards));
        } else {
            let claims = assembly.claims(ids.clone());
            assembly.parallel(ids.start, HopNode::new(spot, hop, unit, claims));
        }
        assembly.after_parallel(ids.start, taker, lane);
    }

    fn is_unit(&self) -> bool {
        true
    }

    fn behind<'run>(
        self: Box<Self>,
        assembly: &mut Assembly<'run>,
        outlet: Outlet,
    ) -> Box<dyn Behind<Taken<U>> + 'run>
    where
        Self: 'run,
    {
        let Self { unit, errors, ids, taker, .. } = *self;
        joint::behind(assembly, unit, &errors, ids.start, taker, outlet)
    }
}

/// A boxed stream: everything before and in its last unit is what comes before the next.
impl<U, E> Upstream<Given<U>> for Tail<'_, U, E>
where
    U: Apply<E> + Send,
    E: Send,
{
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, taker: Taker<'run, Given<U>>)
    where
        Self: 'run,
    {
        self.connect_in::<true>(assembly, taker);
    }
}

/// A parallel unit in the inline executor.
struct UnitCall<'run, U: Unit, E> {
    spot: Spot<E>,
    counter: Counter,
    unit: U,
    local: Option<ThreadBound<U::Local>>,
    out: Out<'run, Given<U>>,
    /// It is the first, or the last, of what the plan composes to one unit.
    is_first: bool,
    is_last: bool,
}

impl<U, E> Push<Taken<U>> for UnitCall<'_, U, E>
where
    U: Apply<E> + Send,
    E: Send,
{
    fn push(&mut self, turn: &mut Turn, cell: Cell<Taken<U>>) -> Demand {
        let Self { spot, counter, unit, local, out, is_first, is_last } = self;
        let began = counter.begin();
        let items = if counter.is_on() && *is_first { items_in::<U::From, U::In>(&cell) } else { 0 };
        let entered = counter.enter(&spot.site);
        let local = local.get_or_insert_with(|| ThreadBound::new(unit.local())).get_mut();
        let cell = through_unit(spot, turn.index(), cell, unit, local);
        drop(entered);
        if counter.is_on() {
            let given = if *is_last { items_in::<U::To, U::Out>(&cell) } else { 0 };
            counter.add(began, Tally { cells: u64::from(*is_first), items, given });
        }
        out.push(turn, cell)
    }

    fn serve(&mut self, _: &mut Input<Taken<U>>, _: &mut Quantum, _: &Run) -> Served {
        unreachable!("the inline executor has no servings")
    }

    fn take_tally(&mut self) -> Tally {
        self.counter.take()
    }
}
