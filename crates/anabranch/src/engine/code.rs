//! The code of a parallel unit, known only by the types of the cells that the unit takes and gives.
//!
//! How a unit becomes part of a line, and how workers claim its cells, depends on these two types alone. So that part is
//! compiled once for all units with the same types, and not for each closure of the program. Only the loops
//! over the cells are compiled for each unit. A worker enters them by one dynamic call for a whole claim.

use std::vec::Drain;

use anabranch_record::lane::{Cell, Claim, Deal, Domain, PutPermit};

use super::behind::RestCarrier;
use super::cell::{OfCell, by_pointer, items_in, through_unit};
use super::failure::caught_drop;
use super::measures::Tally;
use super::site::{Site, Spot};
use crate::shape::Shape;
use crate::unit::{Apply, Given, Taken, Unit};

/// A parallel unit that takes cells of `A` and gives cells of `B`.
pub(super) trait Code<A: Send, B: Send>: Send + Sync {
    fn traits(&self) -> Traits<A, B>;

    /// Creates a worker's side of the unit.
    fn runner(&self) -> Box<dyn UnitRunner<A, B> + '_>;
}

/// What can be said of a unit.
pub(super) struct Traits<A: Send, B: Send> {
    /// Counts the items of a cell before the unit.
    pub(super) taken: fn(&Cell<A>) -> u64,
    /// Counts the items of a cell behind the unit.
    pub(super) given: fn(&Cell<B>) -> u64,
    /// Whether the unit takes several items at an index.
    pub(super) takes_batches: bool,
    /// Whether the unit comes from a boxed stream. A unit of the plan may then consist of several such units, and this
    /// one may not be the last.
    pub(super) is_boxed: bool,
}

/// A parallel unit and its place in the run.
pub(super) struct Placed<'run, A: Send, B: Send> {
    pub(super) code: Box<dyn Code<A, B> + 'run>,
    pub(super) traits: Traits<A, B>,
    pub(super) site: Site,
}

/// A unit with all of its types. `BOX` is [`Traits::is_boxed`].
pub(super) struct UnitCode<U: Unit, E, const BOX: bool> {
    pub(super) spot: Spot<E>,
    pub(super) unit: U,
}

impl<U, E, const BOX: bool> Code<Taken<U>, Given<U>> for UnitCode<U, E, BOX>
where
    U: Apply<E> + Send,
    E: Send,
{
    fn traits(&self) -> Traits<Taken<U>, Given<U>> {
        let takes_batches = <U::From as Shape>::BATCHED;
        let (taken, given) = (items_in::<U::From, U::In>, items_in::<U::To, U::Out>);
        Traits { taken, given, takes_batches, is_boxed: BOX }
    }

    fn runner(&self) -> Box<dyn UnitRunner<Taken<U>, Given<U>> + '_> {
        Box::new(TypedRunner { code: self, local: None })
    }
}

/// One worker's side of a unit, with its state. A panic of user code unwinds out of each function that takes cells.
pub(super) trait UnitRunner<A: Send, B: Send> {
    /// Takes one cell through the unit. Only for items that were dealt to shards.
    fn cell(&mut self, index: u64, cell: Cell<A>) -> Cell<B>;

    /// Carries a claim across the unit, until the stream stops or nothing remains.
    fn carry(&mut self, claim: &mut Claim<'_, A, B>, domain: &Domain, tally: &mut Tally);

    /// Carries a claim through the unit and on to the next one, after every `pass_on` results.
    fn carry_on(
        &mut self,
        deal: &mut Deal<'_, A>,
        here: &mut Here,
        rest: &mut RestCarrier<'_, B>,
        pass_on: u64,
    );

    /// Takes the results of another unit until none is left, and drops those behind the index at which the stream
    /// has stopped.
    fn take_over(
        &mut self,
        cells: &mut Drain<'_, (PutPermit, Cell<A>)>,
        here: &mut Here,
        rest: &mut RestCarrier<'_, B>,
    );

    /// Drops the state, which a panic may have left half-changed. A lower index gets a new one (rule 13). If the drop
    /// panics too, that panic is lost.
    fn forget(&mut self);
}

/// Which cell a worker processes, and what it has counted.
#[derive(Debug, Default)]
pub(super) struct Here {
    /// The index of the cell.
    pub(super) index: u64,
    /// The permit for the result of the cell.
    pub(super) permit: Option<PutPermit>,
    /// How many items the unit took.
    pub(super) items: u64,
    /// How many items the last unit gave.
    pub(super) given: u64,
}

/// The worker's state of `unit`, which is created when the first cell comes.
#[inline]
pub(super) fn local_of<'l, U: Unit>(unit: &U, local: &'l mut Option<U::Local>) -> &'l mut U::Local {
    if local.is_none() {
        *local = Some(unit.local());
    }
    local.as_mut().expect("a state that was created")
}

struct TypedRunner<'n, U: Unit, E, const BOX: bool> {
    code: &'n UnitCode<U, E, BOX>,
    local: Option<U::Local>,
}

impl<'n, U: Apply<E>, E, const BOX: bool> TypedRunner<'n, U, E, BOX> {
    #[inline]
    fn open(&mut self) -> (&'n Spot<E>, &'n U, &mut U::Local) {
        let UnitCode { spot, unit } = self.code;
        (spot, unit, local_of(unit, &mut self.local))
    }
}

/// Processes a cell in the unit. The worker's state is created for the first cell that is not late, so a panic of its
/// factory counts at the index of that cell.
impl<U, E, const BOX: bool> OfCell<Taken<U>, Given<U>> for TypedRunner<'_, U, E, BOX>
where
    U: Apply<E> + Send,
    E: Send,
{
    #[inline]
    fn call(&mut self, index: u64, cell: Cell<Taken<U>>) -> Cell<Given<U>> {
        let (spot, unit, local) = self.open();
        through_unit(spot, index, cell, unit, local)
    }
}

/// Processes cells in a unit whose worker has its state already.
struct UnitCells<'c, U: Unit, E> {
    spot: &'c Spot<E>,
    unit: &'c U,
    local: &'c mut U::Local,
}

impl<U: Apply<E>, E> OfCell<Taken<U>, Given<U>> for UnitCells<'_, U, E> {
    #[inline]
    fn call(&mut self, index: u64, cell: Cell<Taken<U>>) -> Cell<Given<U>> {
        through_unit(self.spot, index, cell, self.unit, self.local)
    }
}

impl<U, E, const BOX: bool> UnitRunner<Taken<U>, Given<U>> for TypedRunner<'_, U, E, BOX>
where
    U: Apply<E> + Send,
    E: Send,
{
    fn cell(&mut self, index: u64, cell: Cell<Taken<U>>) -> Cell<Given<U>> {
        // The condition is the constant alone. Where it is false, the rest is not compiled.
        if U::IS_DEALT {
            let (spot, unit, local) = self.open();
            through_unit(spot, index, cell, unit, local)
        } else {
            unreachable!("the items were not dealt to shards")
        }
    }

    fn carry(&mut self, claim: &mut Claim<'_, Taken<U>, Given<U>>, domain: &Domain, tally: &mut Tally) {
        let (spot, unit, local) = self.open();
        let mut cells = UnitCells { spot, unit, local };
        let call = by_pointer!(&mut cells, OfCell<Taken<U>, Given<U>>);
        carry::<U::From, U::In, U::To, U::Out, E>(spot, claim, domain, tally, call);
    }

    fn carry_on(
        &mut self,
        deal: &mut Deal<'_, Taken<U>>,
        here: &mut Here,
        rest: &mut RestCarrier<'_, Given<U>>,
        pass_on: u64,
    ) {
        if BOX {
            let (spot, unit, local) = self.open();
            let mut cells = UnitCells { spot, unit, local };
            let call = by_pointer!(&mut cells, OfCell<Taken<U>, Given<U>>);
            carry_on::<U::From, U::In, _, E>(spot, deal, (here, rest, pass_on), call);
        } else {
            unreachable!("a unit behind this one is in the same type");
        }
    }

    fn take_over(
        &mut self,
        cells: &mut Drain<'_, (PutPermit, Cell<Taken<U>>)>,
        here: &mut Here,
        rest: &mut RestCarrier<'_, Given<U>>,
    ) {
        let code = self.code;
        let call = by_pointer!(self, OfCell<Taken<U>, Given<U>>);
        take_over::<_, U::To, U::Out, E>(&code.spot, cells, (here, rest), call);
    }

    fn forget(&mut self) {
        let _ = caught_drop(self.local.take());
    }
}

/// The loop of [`UnitRunner::carry`]. `call` takes a cell with an index through the unit.
#[inline]
fn carry<S: Shape, T: Send, V: Shape, W: Send, E>(
    spot: &Spot<E>,
    claim: &mut Claim<'_, S::Slot<T>, V::Slot<W>>,
    domain: &Domain,
    tally: &mut Tally,
    call: &mut (impl OfCell<S::Slot<T>, V::Slot<W>> + ?Sized),
) {
    let run = &*spot.run;
    while claim.remaining() > 0
        && !run.is_ending()
        && claim.index() <= domain.stop() - u64::from(cfg!(mutant = "drop_at_the_stop"))
    {
        let Some(cell) = claim.take() else { break };
        tally.items += items_in::<S, T>(&cell);
        let cell = call.call(claim.index(), cell);
        tally.given += items_in::<V, W>(&cell);
        claim.put(cell);
    }
}

/// The loop of [`UnitRunner::carry_on`].
#[inline]
fn carry_on<S: Shape, T: Send, B: Send, E>(
    spot: &Spot<E>,
    deal: &mut Deal<'_, S::Slot<T>>,
    (here, rest, pass_on): (&mut Here, &mut RestCarrier<'_, B>, u64),
    call: &mut (impl OfCell<S::Slot<T>, B> + ?Sized),
) {
    while deal.remaining() > 0 && !spot.is_late(deal.index()) {
        here.index = deal.index();
        let Some((permit, cell)) = deal.take() else { break };
        here.permit = Some(permit);
        here.items += items_in::<S, T>(&cell);
        let cell = call.call(here.index, cell);
        if let Some(permit) = here.permit.take() {
            here.given += rest.put(permit, cell, 0);
        }
        if deal.index().is_multiple_of(pass_on) {
            here.given += rest.pass_on();
        }
    }
}

/// The loop of [`UnitRunner::take_over`].
#[inline]
fn take_over<A: Send, V: Shape, W: Send, E>(
    spot: &Spot<E>,
    cells: &mut Drain<'_, (PutPermit, Cell<A>)>,
    (here, rest): (&mut Here, &mut RestCarrier<'_, V::Slot<W>>),
    call: &mut (impl OfCell<A, V::Slot<W>> + ?Sized),
) {
    for (permit, cell) in cells {
        here.index = permit.index();
        // Without an order, the first stop that arrives at the next node closes it, whatever its index is.
        let stops_here = spot.gives_arrivals && matches!(cell, Cell::Stop(..)) && !spot.run.is_ending();
        if spot.is_late(here.index) && !stops_here {
            continue;
        }
        here.permit = Some(permit);
        let cell = call.call(here.index, cell);
        let items = items_in::<V, W>(&cell);
        if let Some(permit) = here.permit.take() {
            here.given += rest.put(permit, cell, items);
        }
    }
}
