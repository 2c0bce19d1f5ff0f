//! Parallel units: parallel stages that follow each other. A worker claims cells, and carries them through all of the stages.
//!
//! A stage knows only the types of the cells that it takes and gives, and the next stage only by the type of its cells. So a
//! worker enters the loop over the cells of a claim by one dynamic call for each stage, and the user's function is inlined in that
//! loop. The results of a stage wait in a vector until the next stage takes them. Those of the last stage go into the lane.

use std::marker::PhantomData;
use std::vec::Drain;

use anabranch_record::lane::{Cell, Claim, Dealer, Outlet, Puts, Putter, Stop};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::Arc;

use super::assembly::Assembly;
use super::cell::{Give, ItemOp, ParallelItems, by_pointer, through};
use super::claims::{Claims, Refill};
use super::clock::Mean;
use super::consumer::{Consumer, Read};
use super::direct::{DirectParallel, pass_of};
use super::failure::{Cause, ErrorSlot, caught, caught_drop, discard};
use super::input::Lane;
use super::measures::Tally;
use super::node::{Carrier, Parallel as ParallelNode, SerialUnit};
use super::site::{Site, Spot};
use super::upstream::Upstream;
use crate::engine::Parallel;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const DROP_AT_THE_STOP: Mutant = Mutant("drop_at_the_stop");
const NO_STOP_AFTER_PANIC: Mutant = Mutant("no_stop_after_panic");
const NO_NOTICE_AFTER_CLAIM: Mutant = Mutant("no_notice_after_claim");

/// Results are passed on to the next stage when they have taken this many nanoseconds at the mean cost, so that they do
/// not wait long.
const PASS_ON_NS: u64 = 4_000;
/// Results are passed on to the next stage when there are this many cells of them, or earlier.
const PASS_ON_ITEMS: u64 = 256;

/// A parallel stage and everything before it.
pub(crate) struct ParallelUpstream<'env, T: Send, E, Op, K> {
    pub(crate) before: Box<dyn Upstream<T> + 'env>,
    pub(crate) errors: Arc<ErrorSlot<E>>,
    pub(crate) op: Op,
    pub(crate) id: usize,
    /// The kind of the unit that begins with the stage.
    pub(crate) kind: K,
}

impl<T, E, Op, K> Upstream<Op::Out> for ParallelUpstream<'_, T, E, Op, K>
where
    T: Send,
    E: Send,
    Op: Parallel<T, E>,
    K: UnitKind<T>,
{
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, Op::Out>)
    where
        Self: 'run,
    {
        let Self { before, errors, op, id, kind } = *self;
        let spot = assembly.spot(assembly.first_of_unit(id), &errors);
        if assembly.is_direct() {
            let stage = DirectParallel::new(spot, op, pass_of(consumer));
            let consumer = Consumer::pass(assembly, id, stage);
            return before.connect(assembly, consumer);
        }
        let code: Box<dyn Code<T, Op::Out> + 'run> = Box::new(OpCode { spot, op, takes: PhantomData });
        connect(assembly, before, id, code, kind, consumer);
    }
}

/// How the cells of a parallel unit come to the workers.
pub(crate) trait UnitKind<A: Send>: Copy + Send {
    /// Adds a unit to the line. Its first stage is the node `id`, whose cells come from `dealer`.
    fn add<'run>(
        self,
        assembly: &mut Assembly<'run>,
        id: usize,
        dealer: Dealer<A>,
        stages: Box<dyn Stages<A> + 'run>,
    ) where
        A: 'run;
}

/// Any worker may claim the next cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claimed;

impl<A: Send> UnitKind<A> for Claimed {
    fn add<'run>(
        self,
        assembly: &mut Assembly<'run>,
        id: usize,
        dealer: Dealer<A>,
        stages: Box<dyn Stages<A> + 'run>,
    ) where
        A: 'run,
    {
        let (site, claims) = (assembly.site(id), assembly.claims(assembly.unit_of(id)));
        assembly.parallel(id, UnitNode { site, dealer, claims, stages });
    }
}

/// Adds a parallel stage to a line that is not direct, in front of `consumer`.
fn connect<'run, A: Send + 'run, B: Send + 'run, K: UnitKind<A> + 'run>(
    assembly: &mut Assembly<'run>,
    before: Box<dyn Upstream<A> + 'run>,
    id: usize,
    code: Box<dyn Code<A, B> + 'run>,
    kind: K,
    consumer: Consumer<'run, B>,
) {
    before.connect(assembly, Consumer::read(id, StageRead { code, id, kind, consumer }));
}

/// The code of a parallel stage that takes cells of `A` and gives cells of `B`.
trait Code<A: Send, B: Send>: Send + Sync {
    fn site(&self) -> &Site;

    /// Creates a worker's side of the stage.
    fn runner(&self) -> Box<dyn Runner<A, B> + '_>;
}

/// A worker's side of a parallel stage, with its state.
trait Runner<A: Send, B: Send> {
    /// Takes cells until none is left. A panic of user code unwinds out of this function, unless the cell has several values.
    fn run(&mut self, feed: &mut Feed<'_, A>, results: &mut Results<'_, '_, B>);

    /// Drops the state, which a panic may have left half-changed. A lower index gets a new one (rule 13). If the drop
    /// panics too, that panic is lost.
    fn forget(&mut self);
}

/// A parallel stage with all of its types.
struct OpCode<T, E, Op> {
    spot: Spot<E>,
    op: Op,
    takes: PhantomData<fn(T)>,
}

impl<T: Send, E: Send, Op: Parallel<T, E>> Code<T, Op::Out> for OpCode<T, E, Op> {
    fn site(&self) -> &Site {
        &self.spot.site
    }

    fn runner(&self) -> Box<dyn Runner<T, Op::Out> + '_> {
        Box::new(OpRunner { code: self, local: None })
    }
}

struct OpRunner<'n, T, E, Op: Parallel<T, E>> {
    code: &'n OpCode<T, E, Op>,
    local: Option<Op::Local>,
}

impl<T: Send, E: Send, Op: Parallel<T, E>> Runner<T, Op::Out> for OpRunner<'_, T, E, Op> {
    fn run(&mut self, feed: &mut Feed<'_, T>, results: &mut Results<'_, '_, Op::Out>) {
        let OpCode { spot, op, .. } = self.code;
        // The state is created for the first cell that is not late, so a panic of its factory counts at the index of that cell.
        if !feed.is_open(&spot.site, results) {
            return;
        }
        if self.local.is_none() {
            self.local = Some(op.local());
        }
        let local = self.local.as_mut().expect("a state that was created");
        let mut items = ParallelItems { op, local };
        let call = by_pointer!(&mut items, ItemOp<T, Op::Out, E>);
        carry(spot, feed, results, call);
    }

    fn forget(&mut self) {
        let _ = caught_drop(self.local.take());
    }
}

/// The loop of [`Runner::run`].
#[inline]
fn carry<T: Send, U: Send, E>(
    spot: &Spot<E>,
    feed: &mut Feed<'_, T>,
    results: &mut Results<'_, '_, U>,
    call: &mut (impl ItemOp<T, U, E> + ?Sized),
) {
    while feed.is_open(&spot.site, results) {
        let Some(cell) = feed.take() else { return };
        feed.items += cell.len();
        let index = feed.index;
        feed.index += 1;
        through(spot, index, cell, call, &mut *results);
    }
}

/// The cells that a stage takes, in the order of their indices.
pub(crate) struct Feed<'c, A> {
    cells: Cells<'c, A>,
    /// The index of the next cell.
    index: u64,
    /// How many items the taken cells had.
    items: u64,
}

/// Where the cells of a [`Feed`] come from.
enum Cells<'c, A> {
    /// From the lane before the unit.
    Claimed(Claim<'c, A>),
    /// From the stage before.
    Given(Drain<'c, Cell<A>>),
    /// A single cell.
    One(Option<Cell<A>>),
}

impl<A> Cells<'_, A> {
    fn is_empty(&self) -> bool {
        match self {
            Cells::Claimed(claim) => claim.remaining() == 0,
            Cells::Given(cells) => cells.len() == 0,
            Cells::One(cell) => cell.is_none(),
        }
    }
}

impl<'c, A: Send> Feed<'c, A> {
    /// The cells of a claim, or of a stage, from `first` on.
    fn new(first: u64, cells: Cells<'c, A>) -> Self {
        Self { cells, index: first, items: 0 }
    }

    /// A single cell.
    pub(crate) fn one(index: u64, cell: Cell<A>) -> Self {
        Self::new(index, Cells::One(Some(cell)))
    }

    /// How many items the taken cells had.
    pub(crate) fn items(&self) -> u64 {
        self.items
    }

    /// Takes the next cell.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&mut self) -> Option<Cell<A>> {
        match &mut self.cells {
            Cells::Claimed(claim) => claim.take(),
            Cells::Given(cells) => cells.next(),
            Cells::One(cell) => cell.take(),
        }
    }

    /// Drops the cells up to `index`.
    fn skip_to(&mut self, index: u64) {
        while self.index < index
            && let Some(cell) = self.take()
        {
            self.index += 1;
            drop(cell);
        }
    }

    /// Whether the next cell is to be processed. Cells behind the index at which the stream has stopped are dropped.
    #[inline]
    fn is_open<B: Send>(&mut self, site: &Site, results: &mut Results<'_, '_, B>) -> bool {
        !site.is_late(self.index + u64::from(DROP_AT_THE_STOP.is_on())) || self.drop_late(site, results)
    }

    /// Drops cells behind the index at which the stream has stopped. Without an order, the first stop that arrives at the next
    /// node closes it, whatever its index is, so stops go on.
    #[cold]
    #[inline(never)]
    fn drop_late<B: Send>(&mut self, site: &Site, results: &mut Results<'_, '_, B>) -> bool {
        while site.gives_arrivals
            && !site.run.is_ending()
            && let Some(cell) = self.take()
        {
            self.index += 1;
            results.put(cell.stop().map_or(Cell::Empty, Cell::Stop));
        }
        false
    }
}

/// What a worker does with a claim.
pub(crate) struct Work {
    /// The right to put the results.
    puts: Puts,
    /// How many items the last stage has given.
    given: u64,
    /// Results are passed on to the next stage when there are this many of them.
    pass_on: usize,
}

impl Work {
    pub(crate) fn new(puts: Puts, pass_on: u64) -> Self {
        Self { puts, given: 0, pass_on: pass_on as usize }
    }

    /// How many items the last stage has given.
    pub(crate) fn given(&self) -> u64 {
        self.given
    }
}

/// Where the results of a stage go.
enum Rest<'run, B: Send> {
    /// Into the lane behind the unit.
    Lane(Putter<B>),
    /// To the next stage.
    Stage(Box<dyn Stages<B> + 'run>),
}

/// A worker's side of a [`Rest`].
enum RestCarrier<'n, B: Send> {
    Lane(&'n Putter<B>),
    Stage { next: Box<dyn StagesCarrier<B> + 'n>, waiting: Vec<Cell<B>> },
}

/// Takes the results of a stage.
struct Results<'r, 'n, B: Send> {
    rest: &'r mut RestCarrier<'n, B>,
    work: &'r mut Work,
}

impl<B: Send> Results<'_, '_, B> {
    /// How many results wait for the next stage.
    fn waiting(&self) -> u64 {
        match &*self.rest {
            RestCarrier::Lane(_) => 0,
            RestCarrier::Stage { waiting, .. } => waiting.len() as u64,
        }
    }

    /// The index of the next result.
    fn index(&self) -> u64 {
        self.work.puts.index() + self.waiting()
    }

    /// Whether the claim has an index for another result.
    fn has_room(&self) -> bool {
        self.work.puts.remaining() > self.waiting()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put(&mut self, cell: Cell<B>) {
        match self.rest {
            RestCarrier::Lane(putter) => {
                self.work.given += cell.len();
                putter.put(&mut self.work.puts, cell);
            }
            RestCarrier::Stage { waiting, .. } => {
                waiting.push(cell);
                if waiting.len() >= self.work.pass_on {
                    self.pass_on();
                }
            }
        }
    }

    /// Passes the results that wait on to the next stage.
    #[inline(never)]
    fn pass_on(&mut self) {
        if let RestCarrier::Stage { next, waiting } = self.rest
            && !waiting.is_empty()
        {
            // All results before these were put.
            let first = self.work.puts.index();
            next.carry(&mut Feed::new(first, Cells::Given(waiting.drain(..))), self.work);
        }
    }
}

impl<B: Send> Give<B> for &mut Results<'_, '_, B> {
    type Then = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value(self, result: B) {
        self.put(Cell::Value(result));
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn nothing(self) {
        self.put(Cell::Empty);
    }

    #[inline(never)]
    fn rarely(self, cell: Cell<B>) {
        self.put(cell);
    }
}

/// A parallel stage and those behind it in the unit, for all workers.
pub(crate) trait Stages<A: Send>: Send + Sync {
    /// Creates a worker's side of the stages.
    fn carrier(&self) -> Box<dyn StagesCarrier<A> + '_>;
}

/// A worker's side of a parallel stage and those behind it in the unit.
pub(crate) trait StagesCarrier<A: Send> {
    /// Takes cells through the stages and puts the results into the lane, until the stream stops or no cell is left.
    fn carry(&mut self, feed: &mut Feed<'_, A>, work: &mut Work);
}

struct Stage<'run, A: Send, B: Send> {
    code: Box<dyn Code<A, B> + 'run>,
    rest: Rest<'run, B>,
}

impl<A: Send, B: Send> Stages<A> for Stage<'_, A, B> {
    fn carrier(&self) -> Box<dyn StagesCarrier<A> + '_> {
        let rest = match &self.rest {
            Rest::Lane(putter) => RestCarrier::Lane(putter),
            Rest::Stage(next) => RestCarrier::Stage { next: next.carrier(), waiting: Vec::new() },
        };
        Box::new(StageCarrier { site: self.code.site(), runner: self.code.runner(), rest })
    }
}

struct StageCarrier<'n, A: Send, B: Send> {
    site: &'n Site,
    runner: Box<dyn Runner<A, B> + 'n>,
    rest: RestCarrier<'n, B>,
}

impl<A: Send, B: Send> StagesCarrier<A> for StageCarrier<'_, A, B> {
    fn carry(&mut self, feed: &mut Feed<'_, A>, work: &mut Work) {
        let Self { site, runner, rest } = self;
        let mut results = Results { rest, work };
        // The cells that remain after a panic are behind the stop. The next pass of this loop drops them.
        while let Err(payload) = caught(&mut || runner.run(feed, &mut results)) {
            let index = results.index();
            site.halt(index, Cause::Panic(payload));
            // The panic may have come from the factory of the state, before the cell was taken. If this drop panics too, the
            // panic that was noted first counts.
            discard(caught(&mut || feed.skip_to(index + 1)));
            if !NO_STOP_AFTER_PANIC.is_on() && results.has_room() {
                results.put(Cell::Stop(Stop::Fail));
            }
            runner.forget();
        }
        results.pass_on();
        let rest = std::mem::replace(&mut feed.cells, Cells::One(None));
        if !rest.is_empty()
            && let Err(payload) = caught_drop(rest)
        {
            site.halt(feed.index, Cause::Panic(payload));
        }
    }
}

/// The first stage of a unit, or one behind another, while a line is built.
struct StageRead<'run, A: Send, B: Send, K> {
    code: Box<dyn Code<A, B> + 'run>,
    id: usize,
    kind: K,
    consumer: Consumer<'run, B>,
}

impl<A: Send, B: Send, K: UnitKind<A>> Read<A> for StageRead<'_, A, B, K> {
    fn read<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, lane: Lane<A>)
    where
        Self: 'run,
    {
        let Lane::Committed(lane) = lane else {
            unreachable!("the node before a parallel unit is serial, because parallel stages are composed")
        };
        let id = self.id;
        let (dealer, outlet) = lane.dealer();
        let kind = self.kind;
        let stages = self.behind(assembly, outlet);
        kind.add(assembly, id, dealer, stages);
    }

    fn is_stage(&self) -> bool {
        true
    }

    fn behind<'run>(
        self: Box<Self>,
        assembly: &mut Assembly<'run>,
        outlet: Outlet,
    ) -> Box<dyn Stages<A> + 'run>
    where
        Self: 'run,
    {
        let Self { code, consumer, .. } = *self;
        let rest = match consumer.behind(assembly, outlet) {
            Ok(next) => Rest::Stage(next),
            Err((consumer, outlet)) => {
                let (putter, lane) = if code.site().gives_arrivals {
                    let (putter, lane) = outlet.unordered_lane();
                    (putter, Lane::Arrived(lane))
                } else {
                    let (putter, lane) = outlet.lane();
                    (putter, Lane::Stamped(lane))
                };
                assembly.read(consumer, lane);
                Rest::Lane(putter)
            }
        };
        Box::new(Stage { code, rest })
    }
}

/// The node of a parallel unit whose cells any worker may claim (rule 4).
struct UnitNode<'run, A: Send> {
    site: Site,
    dealer: Dealer<A>,
    claims: Claims,
    stages: Box<dyn Stages<A> + 'run>,
}

impl<A: Send> ParallelNode for UnitNode<'_, A> {
    fn is_ready(&self) -> bool {
        self.dealer.ready() > 0 && self.claims.is_free()
    }

    fn taken(&self) -> u64 {
        self.dealer.claimed()
    }

    fn carrier(&self) -> Box<dyn Carrier + '_> {
        Box::new(UnitCarrier { node: self, stages: self.stages.carrier(), mean: Mean::default() })
    }
}

struct UnitCarrier<'n, A: Send> {
    node: &'n UnitNode<'n, A>,
    stages: Box<dyn StagesCarrier<A> + 'n>,
    mean: Mean,
}

impl<A: Send> UnitCarrier<'_, A> {
    /// Claims up to `size` cells and carries them through the stages. Returns whether there were any.
    fn claim(&mut self, size: u64) -> bool {
        let Self { node, stages, mean } = self;
        let site = &node.site;
        let Some((claim, puts)) = node.dealer.claim(size) else { return false };
        if !NO_NOTICE_AFTER_CLAIM.is_on() && node.dealer.ready() > 0 {
            site.run.event.notify();
        }
        let (first, began) = (claim.index(), site.clock());
        let _entered = site.enter();
        let pass_on = if mean.is_known() { mean.items_in(PASS_ON_NS).min(PASS_ON_ITEMS) } else { 1 };
        let (mut feed, mut work) = (Feed::new(first, Cells::Claimed(claim)), Work::new(puts, pass_on));
        stages.carry(&mut feed, &mut work);
        let cells = feed.index - first;
        if let Some(began) = began {
            let nanos = began.elapsed();
            mean.update(nanos, cells);
            site.run.costs.note(site.id, nanos, feed.items);
            site.measure(Tally { cells, items: feed.items, given: work.given }, began, nanos);
        }
        true
    }
}

impl<A: Send> Carrier for UnitCarrier<'_, A> {
    fn carry(&mut self, before: &SerialUnit<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool {
        let UnitNode { site, dealer, claims, .. } = self.node;
        let refill = Refill { before, window, elsewhere };
        claims.carry(&site.run, self.mean, &|| dealer.ready(), refill, |size| self.claim(size))
    }
}
