//! Parallel units: parallel stages that are composed in one type, and how a unit becomes part of a line.

use std::ops::Range;

use anabranch_record::lane::Outlet;
use anabranch_record::sync::Arc;

use super::assembly::Assembly;
use super::behind::Behind;
use super::code::{Code, Placed, UnitCode};
use super::direct::{DirectTaker, DirectUnit, Onward, pass_of};
use super::failure::ErrorSlot;
use super::hop::HopNode;
use super::input::Lane;
use super::joint;
use super::push::Pass;
use super::shards::{ShardOf, ShardedNode};
use super::site::Spot;
use super::taker::{End, Read, Taker};
use super::upstream::Upstream;
use crate::shape::Shape;
use crate::unit::{Apply, Given, Identity, Taken, Unit};

/// The code of a stream to which stages can still be added: everything up to the last serial node, and the
/// parallel unit behind it.
pub(crate) struct Tail<'env, U: Unit, E> {
    pub(crate) unit: U,
    /// The rest is boxed, because every call of the builder moves the tail.
    pub(crate) base: Box<Base<'env, Taken<U>, E>>,
}

/// What belongs to an open unit, without the type of the unit. The unit takes cells of `A`.
pub(crate) struct Base<'env, A: Send, E> {
    pub(crate) upstream: Box<dyn Upstream<A> + 'env>,
    pub(crate) errors: Arc<ErrorSlot<E>>,
    /// The nodes of the unit in the plan. Empty if the unit does nothing.
    pub(crate) ids: Range<usize>,
    /// Nodes with smaller ids belong to `upstream`, even if the plan composes them with the unit.
    pub(crate) from: usize,
    /// The function that chooses the shard of an item, if items are dealt to replicas.
    pub(crate) shard: Option<ShardOf<A>>,
}

// What needs no type of the unit is done here, so that it is compiled once for all units of the same types.
#[expect(clippy::boxed_local, reason = "to move out of the box would be code of each caller")]
impl<'env, A: Send, E> Base<'env, A, E> {
    /// The place of the node `id`, whose errors go where those of the unit go.
    pub(super) fn spot(&self, assembly: &Assembly<'_>, id: usize) -> Spot<E> {
        assembly.spot(id, &self.errors)
    }

    /// The same with another slot for errors, which `admit` returns for the one that there was.
    pub(crate) fn with_errors<X>(
        self: Box<Self>,
        admit: fn(Arc<ErrorSlot<E>>) -> Arc<ErrorSlot<X>>,
    ) -> Box<Base<'env, A, X>> {
        let Self { upstream, errors, ids, from, shard } = *self;
        Box::new(Base { upstream, errors: admit(errors), ids, from, shard })
    }

    /// The first of the nodes that the plan composes with the unit.
    fn spot_of_whole(&self, assembly: &Assembly<'_>) -> Spot<E> {
        self.spot(assembly, assembly.first_of_unit(self.ids.start))
    }

    /// Adds everything before the unit to the line, in front of `taker`.
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, taker: Taker<'run, A>)
    where
        Self: 'run,
    {
        self.upstream.connect(assembly, taker);
    }

    /// Adds everything before the unit to a direct line. `pass` is the unit and everything behind it.
    fn connect_direct<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, pass: Box<dyn Pass<A> + 'run>)
    where
        Self: 'run,
    {
        let taker = Taker { id: self.ids.start, end: End::Pass(pass) };
        self.connect(assembly, taker);
    }

    /// Adds the unit and everything before it to a line that is not direct, in front of `taker`.
    fn connect_unit<'run, B>(
        self: Box<Self>,
        assembly: &mut Assembly<'run>,
        code: Box<dyn Code<A, B> + 'run>,
        taker: Taker<'run, B>,
    ) where
        Self: 'run,
        A: 'run,
        B: Send + 'run,
    {
        let Self { upstream, ids, shard, .. } = *self;
        let (id, whole) = (ids.start, assembly.unit_of(ids.start));
        let placed = Placed { traits: code.traits(), code, site: assembly.site(whole.start) };
        upstream.connect(assembly, Taker::read(id, UnitRead { placed, ids, shard, taker }));
    }
}

impl<'env, T: Send, S: Shape, E> Tail<'env, Identity<T, S>, E> {
    /// The code of a stream that ends with a serial node: the unit behind it does nothing.
    pub(crate) fn open(upstream: Box<dyn Upstream<S::Slot<T>> + 'env>, errors: Arc<ErrorSlot<E>>) -> Self {
        Self::behind(upstream, errors, 0)
    }

    /// Creates the code of a stream that ends with `upstream`, followed by a unit that does nothing. `upstream` has the
    /// nodes below `from`.
    pub(crate) fn behind(
        upstream: Box<dyn Upstream<S::Slot<T>> + 'env>,
        errors: Arc<ErrorSlot<E>>,
        from: usize,
    ) -> Self {
        Self {
            unit: Identity::new(),
            base: Box::new(Base { upstream, errors, ids: 0..0, from, shard: None }),
        }
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
    pub(crate) fn connect_direct<'run>(
        self,
        assembly: &mut Assembly<'run>,
        next: impl DirectTaker<U::Out> + 'run,
    ) where
        Self: 'run,
    {
        let Self { unit, base } = self;
        let spot = base.spot(assembly, base.ids.start);
        base.connect_direct(assembly, Box::new(DirectUnit { spot, unit, local: None, next }));
    }

    /// Like [`connect`](Self::connect). In a box, `taker` may be the next unit, or the line may be direct.
    fn connect_in<'run, const BOX: bool>(self, assembly: &mut Assembly<'run>, taker: Taker<'run, Given<U>>)
    where
        Self: 'run,
    {
        // The constants come first: what they exclude is not compiled.
        if U::DOES_NOTHING {
            return self.base.connect(assembly, U::bypass(taker));
        }
        if BOX && assembly.is_direct() {
            return self.connect_direct(assembly, Onward::<U::To, U::Out>(pass_of(taker)));
        }
        let Self { unit, base } = self;
        let spot = base.spot_of_whole(assembly);
        let code = UnitCode::<U, E, BOX> { spot, unit };
        base.connect_unit(assembly, Box::new(code), taker);
    }
}

/// A parallel unit that reads a lane. Workers claim ranges of the lane.
struct UnitRead<'run, A: Send, B: Send> {
    placed: Placed<'run, A, B>,
    ids: Range<usize>,
    shard: Option<ShardOf<A>>,
    taker: Taker<'run, B>,
}

impl<A: Send, B: Send> Read<A> for UnitRead<'_, A, B> {
    fn read<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, lane: Lane<A>)
    where
        Self: 'run,
    {
        let Self { placed, ids, shard, taker } = *self;
        let Lane::Committed(lane) = lane else {
            unreachable!("the node before a parallel unit is serial, because parallel stages are composed")
        };
        if placed.traits.is_boxed && taker.is_unit() {
            debug_assert!(shard.is_none(), "a unit with shards is not boxed");
            let claims = assembly.claims(assembly.unit_of(ids.start));
            let (dealer, outlet) = lane.dealer();
            let Ok(rest) = taker.behind(assembly, outlet) else { unreachable!("it is a unit") };
            return assembly.parallel(ids.start, joint::first(placed, dealer, claims, rest));
        }
        let (hop, lane) = if placed.site.gives_arrivals {
            let (hop, lane) = lane.unordered_hop();
            (hop, Lane::Arrived(lane))
        } else {
            let (hop, lane) = lane.hop();
            (hop, Lane::Stamped(lane))
        };
        match shard {
            Some(shard_of) => {
                let shards = assembly.plan.nodes[ids.start].replicas.unwrap_or(1);
                assembly.parallel(ids.start, ShardedNode::new(placed, hop, shard_of, shards));
            }
            None => {
                let claims = assembly.claims(ids.clone());
                assembly.parallel(ids.start, HopNode::new(placed, hop, claims));
            }
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
    ) -> Box<dyn Behind<A> + 'run>
    where
        Self: 'run,
    {
        let Self { placed, taker, .. } = *self;
        joint::behind(assembly, placed, taker, outlet)
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
