//! Parallel units one behind another. Each knows the next one only as a trait object.
//!
//! The plan composes consecutive parallel stages into one unit. The types of a stream do the same until the
//! stream is boxed: a parallel stage behind a box begins a new unit in the types, but not in the plan. A
//! worker carries a claim through the first unit, and then its results through the next one. This takes one
//! indirect call for several items, and not one for each item.

use anabranch_record::lane::{Cell, Dealer, Outlet, Stop};

use super::assembly::Assembly;
use super::behind::{Behind, CarryOn, Dealt, Rest, RestCarrier};
use super::claims::{Claims, Refill};
use super::clock::Mean;
use super::code::{Here, Placed, UnitRunner};
use super::failure::{Cause, caught, caught_drop};
use super::input::Lane;
use super::measures::Tally;
use super::node::{Carrier, Parallel, SerialUnit};
use super::site::Site;
use super::taker::Taker;

/// A worker passes results on when they have taken this many nanoseconds at the mean cost, so that they do
/// not wait long.
const PASS_ON_NS: u64 = 4_000;
/// A worker passes results on when it has this many cells of them, or earlier.
const PASS_ON_ITEMS: u64 = 256;

/// The first of several units, which claims cells from a lane.
struct FirstNode<'run, A: Send, B: Send> {
    placed: Placed<'run, A, B>,
    dealer: Dealer<A>,
    claims: Claims,
    rest: Rest<'run, B>,
}

/// Creates the node of a unit whose results go to the unit `rest`.
pub(super) fn first<'run, A, B>(
    placed: Placed<'run, A, B>,
    dealer: Dealer<A>,
    claims: Claims,
    rest: Box<dyn Behind<B> + 'run>,
) -> impl Parallel + Send + 'run
where
    A: Send + 'run,
    B: Send + 'run,
{
    FirstNode { placed, dealer, claims, rest: Rest::Unit(rest) }
}

impl<A: Send, B: Send> Parallel for FirstNode<'_, A, B> {
    fn is_ready(&self) -> bool {
        self.dealer.ready() > 0 && self.claims.is_free()
    }

    fn taken(&self) -> u64 {
        self.dealer.claimed()
    }

    fn carrier(&self) -> Box<dyn Carrier + '_> {
        let (runner, rest) = (self.placed.code.runner(), self.rest.carrier());
        Box::new(FirstCarrier { node: self, runner, mean: Mean::default(), rest })
    }
}

struct FirstCarrier<'n, A: Send, B: Send> {
    node: &'n FirstNode<'n, A, B>,
    runner: Box<dyn UnitRunner<A, B> + 'n>,
    mean: Mean,
    rest: RestCarrier<'n, B>,
}

impl<A: Send, B: Send> FirstCarrier<'_, A, B> {
    /// Claims and processes up to `size` cells. Returns whether there were any.
    fn claim(&mut self, size: u64) -> bool {
        let Self { node, runner, mean, rest } = self;
        let site = &node.placed.site;
        let Some(mut deal) = node.dealer.claim(size) else { return false };
        if node.dealer.ready() > 0 {
            site.run.event.notify();
        }
        let (first, began) = (deal.index(), site.clock());
        let _entered = site.enter();
        let pass_on = if mean.is_known() { mean.items_in(PASS_ON_NS).min(PASS_ON_ITEMS) } else { 1 };
        let mut here = Here { index: first, ..Here::default() };
        let carried = caught(&mut || runner.carry_on(&mut deal, &mut here, rest, pass_on));
        let cells = deal.index() - first;
        if let Err(payload) = carried {
            site.halt(here.index, Cause::Panic(payload));
            if let Some(permit) = here.permit.take() {
                rest.put(permit, Cell::Stop(None, Stop::Fail), 0);
            }
            runner.forget();
        }
        here.given += rest.pass_on();
        if let Some(began) = began {
            let nanos = began.elapsed();
            mean.update(nanos, cells);
            if node.placed.traits.takes_batches {
                site.run.costs.note(site.id, nanos, here.items);
            }
            site.measure(Tally { cells, items: here.items, given: here.given }, began, nanos);
        }
        if deal.remaining() > 0 {
            let index = deal.index();
            if let Err(payload) = caught_drop(deal) {
                site.halt(index, Cause::Panic(payload));
            }
        }
        true
    }
}

impl<A: Send, B: Send> Carrier for FirstCarrier<'_, A, B> {
    fn carry(&mut self, before: &SerialUnit<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool {
        let FirstNode { dealer, claims, placed, .. } = self.node;
        let refill = Refill { before, window, elsewhere };
        claims.carry(&placed.site.run, self.mean, &|| dealer.ready(), refill, |size| self.claim(size))
    }
}

/// A unit behind another one.
struct BehindNode<'run, A: Send, B: Send> {
    placed: Placed<'run, A, B>,
    rest: Rest<'run, B>,
}

impl<A: Send, B: Send> Behind<A> for BehindNode<'_, A, B> {
    fn carrier(&self) -> Box<dyn CarryOn<A> + '_> {
        Box::new(BehindCarrier {
            site: &self.placed.site,
            runner: self.placed.code.runner(),
            rest: self.rest.carrier(),
        })
    }
}

struct BehindCarrier<'n, A: Send, B: Send> {
    site: &'n Site,
    runner: Box<dyn UnitRunner<A, B> + 'n>,
    rest: RestCarrier<'n, B>,
}

impl<A: Send, B: Send> CarryOn<A> for BehindCarrier<'_, A, B> {
    fn carry_on(&mut self, cells: &mut Dealt<A>) -> u64 {
        let Self { site, runner, rest } = self;
        let mut cells = cells.drain(..);
        let mut here = Here::default();
        // The cells that remain after a panic are behind the stop. The next pass of this loop drops them.
        while let Err(payload) = caught(&mut || runner.take_over(&mut cells, &mut here, rest)) {
            site.halt(here.index, Cause::Panic(payload));
            if let Some(permit) = here.permit.take() {
                rest.put(permit, Cell::Stop(None, Stop::Fail), 0);
            }
            runner.forget();
        }
        here.given + rest.pass_on()
    }
}

/// Puts a unit between another parallel unit, whose results come with permits, and `taker`.
pub(super) fn behind<'run, A, B>(
    assembly: &mut Assembly<'run>,
    placed: Placed<'run, A, B>,
    taker: Taker<'run, B>,
    outlet: Outlet,
) -> Box<dyn Behind<A> + 'run>
where
    A: Send + 'run,
    B: Send + 'run,
{
    let rest = match taker.behind(assembly, outlet) {
        Ok(next) => Rest::Unit(next),
        Err((taker, outlet)) if placed.site.gives_arrivals => {
            let (putter, lane) = outlet.unordered_lane();
            assembly.after_parallel(placed.site.id, taker, Lane::Arrived(lane));
            Rest::Lane(putter)
        }
        Err((taker, outlet)) => {
            let (putter, lane) = outlet.lane();
            assembly.after_parallel(placed.site.id, taker, Lane::Stamped(lane));
            Rest::Lane(putter)
        }
    };
    Box::new(BehindNode { placed, rest })
}
