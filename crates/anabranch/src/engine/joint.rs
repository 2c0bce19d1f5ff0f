//! Parallel units one behind another. Each knows the next one only as a trait object.
//!
//! The plan composes consecutive parallel stages into one unit. The types of a stream do the same until the
//! stream is boxed: a parallel stage behind a box begins a new unit in the types, but not in the plan. A
//! worker carries a claim through the first unit, and then its results through the next one. This takes one
//! indirect call for several items, and not one for each item.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, Dealer, Outlet, PutPermit, Putter, Stop};
use anabranch_record::sync::Arc;

use super::assembly::{Assembly, Taker};
use super::behind::{Behind, CarryOn, Dealt};
use super::cell::{items_in, through};
use super::clock::Mean;
use super::failure::{Cause, ErrorSlot};
use super::hop::{Carrier, Claims, Feeding, Parallel};
use super::input::Lane;
use super::line::Station;
use super::measures::Tally;
use super::site::Spot;
use crate::shape::Shape;
use crate::unit::{Apply, Given, Taken, Unit};

/// A worker passes results on when they have taken this many nanoseconds at the mean cost, so that they do
/// not wait long.
const PASS_ON_NS: u64 = 4_000;
/// A worker passes results on when it has this many cells of them, or earlier.
const PASS_ON_ITEMS: u64 = 256;

/// The code of a unit, and its place in the run.
struct Code<U, E> {
    spot: Spot<E>,
    unit: U,
}

impl<U: Apply<E>, E> Code<U, E> {
    fn apply(&self, local: &mut Option<U::Local>, index: u64, cell: Cell<Taken<U>>) -> Cell<Given<U>> {
        let local = local.get_or_insert_with(|| self.unit.local());
        through::<U::From, U::To, U::In, U::Out, E>(&self.spot, index, cell, |item, gather| {
            self.unit.apply(local, item, &mut |item| {
                U::To::push(gather, item);
                ControlFlow::Continue(())
            })
        })
    }

    /// Whether `index` is behind the index at which the stream has stopped, or the run is over.
    #[inline]
    fn is_late(&self, index: u64) -> bool {
        self.spot.run.is_ending() || index > self.spot.domain.stop()
    }

    /// Notes a panic of user code at `index`. The panic may have left the worker's state half-changed, so the
    /// state is dropped, and made anew if a lower index needs it.
    #[cold]
    fn halt(&self, local: &mut Option<U::Local>, index: u64, payload: Box<dyn std::any::Any + Send>) {
        let broken = local.take();
        self.spot.halt(index, Cause::Panic(payload));
        // A panic of this drop comes after the panic that is already noted.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(broken)));
    }
}

/// Where the results of a unit go.
enum Rest<'run, S: Send> {
    /// Into the lane behind the whole unit of the plan.
    Lane(Putter<S>),
    /// Into the next unit.
    Unit(Box<dyn Behind<S> + 'run>),
}

/// One worker's side of a [`Rest`].
enum RestCarrier<'n, S: Send> {
    Lane(&'n Putter<S>),
    Unit { next: Box<dyn CarryOn<S> + 'n>, gathered: Dealt<S> },
}

impl<S: Send> Rest<'_, S> {
    fn carrier(&self) -> RestCarrier<'_, S> {
        match self {
            Rest::Lane(putter) => RestCarrier::Lane(putter),
            Rest::Unit(behind) => RestCarrier::Unit { next: behind.carrier(), gathered: Vec::new() },
        }
    }
}

impl<S: Send> RestCarrier<'_, S> {
    /// Puts a result, which has `items` items. Returns how many of them the unit of the plan has given so
    /// far: all if the result goes into the lane, and none if the next unit has to process it.
    #[inline]
    fn put(&mut self, permit: PutPermit, cell: Cell<S>, items: u64) -> u64 {
        match self {
            RestCarrier::Lane(putter) => {
                putter.put(permit, cell);
                items
            }
            RestCarrier::Unit { gathered, .. } => {
                gathered.push((permit, cell));
                0
            }
        }
    }

    /// Passes the gathered results on to the next unit. Returns how many items the unit of the plan has given
    /// for them.
    fn pass_on(&mut self) -> u64 {
        match self {
            RestCarrier::Lane(_) => 0,
            RestCarrier::Unit { next, gathered } => next.carry_on(gathered),
        }
    }
}

/// The first of several units, which claims cells from a lane.
struct FirstNode<'run, U: Unit, E> {
    code: Code<U, E>,
    dealer: Dealer<Taken<U>>,
    claims: Claims,
    rest: Rest<'run, Given<U>>,
}

/// Creates the node of a unit whose results go to the unit `rest`.
pub(super) fn first<'run, U, E>(
    spot: Spot<E>,
    unit: U,
    dealer: Dealer<Taken<U>>,
    claims: Claims,
    rest: Box<dyn Behind<Given<U>> + 'run>,
) -> impl Parallel + Send + 'run
where
    U: Apply<E> + Send + 'run,
    E: Send + 'run,
{
    FirstNode { code: Code { spot, unit }, dealer, claims, rest: Rest::Unit(rest) }
}

impl<U: Apply<E>, E: Send> Parallel for FirstNode<'_, U, E> {
    fn is_ready(&self) -> bool {
        self.dealer.ready() > 0 && self.claims.is_free()
    }

    fn taken(&self) -> u64 {
        self.dealer.claimed()
    }

    fn carrier(&self) -> Box<dyn Carrier + '_> {
        Box::new(FirstCarrier { node: self, local: None, mean: Mean::default(), rest: self.rest.carrier() })
    }
}

struct FirstCarrier<'n, U: Unit, E> {
    node: &'n FirstNode<'n, U, E>,
    local: Option<U::Local>,
    mean: Mean,
    rest: RestCarrier<'n, Given<U>>,
}

impl<U: Apply<E>, E: Send> FirstCarrier<'_, U, E> {
    /// Claims and processes up to `size` cells. Returns whether there were any.
    fn claim(&mut self, size: u64) -> bool {
        let Self { node, local, mean, rest } = self;
        let code = &node.code;
        let Some(mut deal) = node.dealer.claim(size) else { return false };
        if node.dealer.ready() > 0 {
            code.spot.run.event.notify();
        }
        let (first, began) = (deal.index(), code.spot.clock());
        let _entered = code.spot.enter();
        let pass_on = if mean.is_known() { mean.items_in(PASS_ON_NS).min(PASS_ON_ITEMS) } else { 1 };
        let mut tally = Tally::default();
        // The index that is being processed, and the permit for its result.
        let mut here = (first, None);
        let carried = catch_unwind(AssertUnwindSafe(|| {
            while deal.remaining() > 0 && !code.is_late(deal.index()) {
                here.0 = deal.index();
                let Some((permit, cell)) = deal.take() else { break };
                here.1 = Some(permit);
                tally.items += items_in::<U::From, U::In>(&cell);
                let cell = code.apply(local, here.0, cell);
                if let Some(permit) = here.1.take() {
                    tally.given += rest.put(permit, cell, 0);
                }
                if deal.index() % pass_on == 0 {
                    tally.given += rest.pass_on();
                }
            }
        }));
        tally.cells = deal.index() - first;
        if let Err(payload) = carried {
            code.halt(local, here.0, payload);
            if let Some(permit) = here.1.take() {
                rest.put(permit, Cell::Stop(None, Stop::Fail), 0);
            }
        }
        tally.given += rest.pass_on();
        if let Some(began) = began {
            let nanos = began.elapsed();
            mean.update(nanos, tally.cells);
            if <U::From as Shape>::BATCHED {
                code.spot.run.costs.note(code.spot.id, nanos, tally.items);
            }
            code.spot.measure(tally, began, nanos);
        }
        if deal.remaining() > 0 {
            let index = deal.index();
            if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(deal))) {
                code.spot.halt(index, Cause::Panic(payload));
            }
        }
        true
    }
}

impl<U: Apply<E>, E: Send> Carrier for FirstCarrier<'_, U, E> {
    fn carry(&mut self, before: &Station<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool {
        let FirstNode { dealer, claims, code, .. } = self.node;
        let feeding = Feeding { before, window, elsewhere };
        claims.carry(&code.spot.run, self.mean, &|| dealer.ready(), feeding, |size| self.claim(size))
    }
}

/// A unit behind another one.
struct BehindNode<'run, U: Unit, E> {
    code: Code<U, E>,
    rest: Rest<'run, Given<U>>,
}

impl<U: Apply<E> + Send, E: Send> Behind<Taken<U>> for BehindNode<'_, U, E> {
    fn carrier(&self) -> Box<dyn CarryOn<Taken<U>> + '_> {
        Box::new(BehindCarrier { node: self, local: None, rest: self.rest.carrier() })
    }
}

struct BehindCarrier<'n, U: Unit, E> {
    node: &'n BehindNode<'n, U, E>,
    local: Option<U::Local>,
    rest: RestCarrier<'n, Given<U>>,
}

impl<U: Apply<E>, E: Send> CarryOn<Taken<U>> for BehindCarrier<'_, U, E> {
    fn carry_on(&mut self, cells: &mut Dealt<Taken<U>>) -> u64 {
        let Self { node, local, rest } = self;
        let code = &node.code;
        let mut given = 0;
        let mut cells = cells.drain(..);
        loop {
            let mut here = (0, None);
            let carried = catch_unwind(AssertUnwindSafe(|| {
                for (permit, cell) in cells.by_ref() {
                    here.0 = permit.index();
                    if code.is_late(here.0) {
                        continue;
                    }
                    here.1 = Some(permit);
                    let cell = code.apply(local, here.0, cell);
                    let items = items_in::<U::To, U::Out>(&cell);
                    if let Some(permit) = here.1.take() {
                        given += rest.put(permit, cell, items);
                    }
                }
            }));
            let Err(payload) = carried else { break };
            code.halt(local, here.0, payload);
            if let Some(permit) = here.1.take() {
                rest.put(permit, Cell::Stop(None, Stop::Fail), 0);
            }
            // The remaining cells are behind the stop. The next pass of this loop drops them.
        }
        given + rest.pass_on()
    }
}

/// Puts a unit between another parallel unit, whose results come with permits, and `taker`.
pub(super) fn behind<'run, U, E>(
    assembly: &mut Assembly<'run>,
    unit: U,
    errors: &Arc<ErrorSlot<E>>,
    at: usize,
    taker: Taker<'run, Given<U>>,
    outlet: Outlet,
) -> Box<dyn Behind<Taken<U>> + 'run>
where
    U: Apply<E> + Send + 'run,
    E: Send + 'run,
{
    let spot = assembly.spot(assembly.first_of_unit(at), errors);
    let rest = match taker.behind(assembly, outlet) {
        Ok(next) => Rest::Unit(next),
        Err((taker, outlet)) if spot.gives_arrivals => {
            let (putter, lane) = outlet.unordered_lane();
            assembly.after_parallel(spot.id, taker, Lane::Arrived(lane));
            Rest::Lane(putter)
        }
        Err((taker, outlet)) => {
            let (putter, lane) = outlet.lane();
            assembly.after_parallel(spot.id, taker, Lane::Stamped(lane));
            Rest::Lane(putter)
        }
    };
    Box::new(BehindNode { code: Code { spot, unit }, rest })
}
