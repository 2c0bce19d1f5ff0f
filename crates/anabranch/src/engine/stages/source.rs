//! The source of a line. It pulls items into its domain while the window has room (rule 3).

use anabranch_record::Baton;
use anabranch_record::lane::{Cell, Domain, Indices, Stop, Turn};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicU64, Ordering, fence};

use crate::clock::{Mean, Moment};
use crate::engine::build::assembly::Assembly;
use crate::engine::build::consumer::Consumer;
use crate::engine::build::upstream::Upstream;
use crate::engine::nodes::node::{Drive, Poked, SerialNode};
use crate::engine::nodes::pull::{Pull, Pulled};
use crate::engine::nodes::step::{Demand, Out, Step, stop_at_panic};
use crate::engine::state::blocks::{Length, is_in_blocks};
use crate::engine::state::failure::{Cause, ErrorSlot, caught};
use crate::engine::state::gate::Gate;
use crate::engine::state::run::Run;
use crate::engine::state::site::{Site, Spot};
use crate::engine::state::weight::{Weigher, WeightInFlight};
use crate::measures::{Mark, Tally};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_LOOK_AFTER_PULL: Mutant = Mutant("no_look_after_pull");
const PULL_PAST_A_FAILURE: Mutant = Mutant("pull_past_a_failure");
const NO_NOTICE_OF_AN_ITEM: Mutant = Mutant("no_notice_of_an_item");

/// The longest time of one pull, in nanoseconds. The number of its items is computed from the mean time of an item, which
/// includes the stages that are fused to the source. It is at most [`PULL_ITEMS`].
const PULL_NS: u64 = 20_000;
/// The largest number of items in one pull.
const PULL_ITEMS: u64 = 2_048;

/// The code of a source, before a line is made of it.
pub(crate) struct SourceUpstream<'env, P: Pull> {
    pub(crate) pull: P,
    pub(crate) errors: Arc<ErrorSlot<P::Error>>,
    pub(crate) id: usize,
    pub(crate) weigher: Option<Weigher<'env, P::Item>>,
}

impl<P: Pull> Upstream<P::Item> for SourceUpstream<'_, P> {
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, P::Item>)
    where
        Self: 'run,
    {
        let Self { pull, errors, id, weigher } = *self;
        let spot = assembly.spot(id, &errors);
        if assembly.is_direct() {
            let length = Length::new(&assembly.plan);
            let source = DirectSource { spot, pull, next: consumer.into_direct(), length };
            assembly.drive = Some(Box::new(source));
            return;
        }
        connect(assembly, id, Box::new(TypedSource { spot, pull }), weigher, consumer);
    }
}

/// Adds a source to a line that is not direct, in front of `consumer`.
fn connect<'run, T: Send + 'run>(
    assembly: &mut Assembly<'run>,
    id: usize,
    source: Box<dyn AnySource<T> + 'run>,
    weigher: Option<Weigher<'run, T>>,
    consumer: Consumer<'run, T>,
) {
    let (site, length) = (assembly.site(id), Length::new(&assembly.plan));
    let weigher = match source.is_in_blocks() && is_in_blocks(&assembly.plan) {
        true => Some(counted(assembly.plan.domains[0].window)),
        false => weigher,
    };
    let out = assembly.after_serial(id, consumer);
    let indices = assembly.indices_of(id);
    let gate = assembly.gate_of(id);
    let goes_on = site.run.feed.is_some() && !site.run.has_dedicated();
    let weight = weigher.map(WeightInFlight::new);
    let state =
        SourceState { source, flow: SourceOutput { indices, out, weight, length }, mean: Mean::default() };
    let node = SourceNode {
        conditions: PullConditions { domain: Arc::clone(state.flow.indices.domain()), site, gate, goes_on },
        baton: Baton::with_word(assembly.word_of(id), state),
        mean: AtomicU64::new(0),
    };
    assembly.source(id, node);
}

/// Weighs each item alike, so that at most `window` items are in flight.
fn counted<'run, T: 'run>(window: usize) -> Weigher<'run, T> {
    let limit = window as u64;
    // After the window was full, the source is asked again once a quarter of it is free, so that the next block is not
    // too short.
    Weigher { limit, resume: (limit - limit / 4).max(1), weigh: Box::new(Cell::len) }
}

/// A source of which only the type of the items is known. The nodes of sources are compiled once for each type of items. Only
/// the loop over the items of a pull is compiled for each source.
trait AnySource<T: Send>: Send {
    /// Whether the source gives blocks of items.
    fn is_in_blocks(&self) -> bool;

    /// Pulls items and puts them into `flow` until `items` has reached `most`, the window is full, or the source stops. Adds
    /// the number of items of the stream to `items`.
    fn draw(
        &mut self,
        conditions: &PullConditions,
        flow: &mut SourceOutput<'_, T>,
        mark: &mut Mark,
        most: u64,
        items: &mut u64,
    ) -> PullEnd;
}

/// A source with its types.
struct TypedSource<P: Pull> {
    spot: Spot<P::Error>,
    pull: P,
}

impl<P: Pull> AnySource<P::Item> for TypedSource<P> {
    fn is_in_blocks(&self) -> bool {
        P::IN_BLOCKS
    }

    fn draw(
        &mut self,
        conditions: &PullConditions,
        flow: &mut SourceOutput<'_, P::Item>,
        mark: &mut Mark,
        most: u64,
        items: &mut u64,
    ) -> PullEnd {
        let is_limited = flow.weight.is_some() || conditions.gate.is_some();
        while *items < most && flow.indices.room() > 0 {
            if !PULL_PAST_A_FAILURE.is_on() && !conditions.site.run.may_pull() {
                break;
            }
            if P::IN_BLOCKS {
                self.pull.limit(flow.block(&conditions.site.run, self.pull.upper()));
            }
            let cell = match self.pull.try_pull_cell() {
                Some(Pulled::Item(cell)) => cell,
                None => break,
                Some(Pulled::End) => return PullEnd::Stopped(Stop::End),
                Some(Pulled::Fail(error)) => {
                    return PullEnd::Stopped(self.spot.fail(flow.indices.next(), error));
                }
            };
            *items += cell.len();
            if !flow.put(conditions, mark, cell) {
                return PullEnd::Closed;
            }
            if conditions.site.is_alone()
                || is_limited && (!conditions.allows_weight(flow) || !conditions.is_fed())
            {
                break;
            }
        }
        PullEnd::Open
    }
}

struct SourceState<'run, T: Send> {
    source: Box<dyn AnySource<T> + 'run>,
    flow: SourceOutput<'run, T>,
    /// The mean cost of an item of the stream.
    mean: Mean,
}

/// The output of a source.
struct SourceOutput<'run, T: Send> {
    indices: Indices,
    out: Out<'run, T>,
    weight: Option<WeightInFlight<'run, T>>,
    length: Length,
}

impl<T: Send> SourceOutput<'_, T> {
    /// The length of the next block.
    fn block(&mut self, run: &Run, upper: Option<usize>) -> u64 {
        let workers = run.workers.load(Ordering::Relaxed);
        let length = self.length.next(&run.costs, upper, workers);
        let left = self.weight.as_ref().map_or(u64::MAX, WeightInFlight::left);
        length.min(left).max(1)
    }

    /// Puts an item, or a block of items. Returns whether the next one may come.
    #[inline]
    fn put(&mut self, conditions: &PullConditions, mark: &mut Mark, cell: Cell<T>) -> bool {
        if let Some(weight) = &mut self.weight {
            weight.put(self.indices.next(), &cell);
        }
        mark.enters(self.indices.next());
        let turn = self.indices.open();
        // A worker that goes on with the item wakes another one itself, if it leaves work behind.
        let wakes = !NO_NOTICE_OF_AN_ITEM.is_on() && !conditions.goes_on;
        let demand = match cell {
            Cell::Value(item) => self.out.item_if(wakes, turn, item),
            cell => self.out.cell(turn, cell),
        };
        demand == Demand::More
    }
}

/// The source as a node of a line.
struct SourceNode<'run, T: Send> {
    baton: Baton<SourceState<'run, T>>,
    conditions: PullConditions,
    /// The mean time of an item, as the bits of a [`Mean`]. It includes the stages that are fused to the source. Each pull
    /// stores it, and other threads read it.
    mean: AtomicU64,
}

/// The conditions under which a source may be asked.
struct PullConditions {
    site: Site,
    domain: Arc<Domain>,
    gate: Option<Arc<Gate>>,
    /// Whether the source never blocks and its worker goes on with the items that it has pulled. It then
    /// wakes nobody for each item.
    goes_on: bool,
}

/// How a pull ended.
enum PullEnd {
    /// The source may have more items.
    Open,
    /// A stage that is fused to the source has stopped the stream.
    Closed,
    /// The source is exhausted or has failed.
    Stopped(Stop),
}

impl PullConditions {
    /// Returns whether the weight in flight allows another item. Tells the gate how many indices must be given back before it
    /// does.
    #[inline]
    fn allows_weight<T: Send>(&self, flow: &mut SourceOutput<'_, T>) -> bool {
        let Some(weight) = &mut flow.weight else { return true };
        let released = self.domain.released();
        let indices = weight.gate(released);
        if let Some(gate) = &self.gate {
            gate.set(indices);
        }
        indices <= released
    }

    /// Whether the feed has something for the calling worker. Always true without a feed.
    #[inline]
    fn is_fed(&self) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.is_fed())
    }
}

impl<T: Send> SourceNode<'_, T> {
    /// Pulls at most [`PULL_ITEMS`] items, for about [`PULL_NS`]. Returns whether the stream has stopped here, and sets
    /// `worked` if anything was done.
    fn pull(&self, state: &mut SourceState<'_, T>, worked: &mut bool) -> bool {
        let Self { conditions, .. } = self;
        let PullConditions { site, .. } = conditions;
        let SourceState { source, flow, mean } = state;
        if flow.indices.fresh_room() == 0 || !conditions.allows_weight(flow) {
            return false;
        }
        if !site.run.may_pull() {
            return self.stops(flow, worked);
        }
        if !conditions.is_fed() {
            return false;
        }
        let most =
            if mean.is_known() && !site.is_alone() { mean.items_in(PULL_NS).min(PULL_ITEMS) } else { 1 };
        let _entered = site.enter();
        let first = flow.indices.next();
        let began = site.clock();
        let mut mark = site.mark(first);
        // How many items of the stream were pulled.
        let mut items = 0;
        let mut end = PullEnd::Open;
        let pulled = caught(&mut || end = source.draw(conditions, flow, &mut mark, most, &mut items));
        let cells = flow.indices.next() - first;
        *worked |= cells > 0 || pulled.is_err() || !matches!(end, PullEnd::Open);
        if let Some(began) = began {
            let nanos = began.elapsed();
            mean.update(nanos, items);
            let given = items.saturating_add_signed(flow.out.take_gain());
            site.measure(Tally { cells, items, given }, began, nanos);
            site.run.costs.note(site.id, nanos, items);
            self.mean.store(mean.bits(), Ordering::Relaxed);
        }
        let closed = match (pulled, end) {
            (Ok(()), PullEnd::Open) => false,
            (Ok(()), PullEnd::Closed) => true,
            (Ok(()), PullEnd::Stopped(stop)) => self.put_stop(flow, stop),
            (Err(payload), _) => {
                let turn = flow.indices.turn();
                let index = if turn.is_open() { turn.index() } else { flow.indices.next() };
                site.halt(index, Cause::Panic(payload));
                self.put_stop(flow, Stop::Fail)
            }
        };
        flow.indices.show();
        closed
    }

    /// Ends the stream at the next index if the run drains. Otherwise the source is just not asked again.
    /// Returns whether the stream has ended.
    #[cold]
    fn stops(&self, flow: &mut SourceOutput<'_, T>, worked: &mut bool) -> bool {
        let drains = self.conditions.site.run.is_draining();
        if drains {
            self.put_stop(flow, Stop::End);
            flow.indices.show();
            *worked = true;
        }
        drains
    }

    /// Puts a stop at the index of the open turn, or at the next index if no turn is open. Returns `true`:
    /// the stream has stopped here.
    #[cold]
    fn put_stop(&self, flow: &mut SourceOutput<'_, T>, stop: Stop) -> bool {
        let SourceOutput { indices, out, .. } = flow;
        let turn = if indices.turn().is_open() { indices.turn() } else { indices.open() };
        if let Err(payload) = caught(&mut || _ = out.cell(turn, Cell::Stop(stop))) {
            // A serial stage of this unit panicked at the end of the stream.
            stop_at_panic(&self.conditions.site, payload, turn, |turn, cell| out.cell(turn, cell));
        }
        true
    }
}

impl<T: Send> SerialNode for SourceNode<'_, T> {
    fn poke(&self, elsewhere: &dyn Fn() -> bool) -> Poked {
        let Some(mut held) = self.baton.try_acquire() else { return Poked::Elsewhere };
        // A worker that leaves the run takes itself out of the count of workers, and then looks whether a
        // source is held. A worker that has taken the source looks whether it is the only worker. The fences
        // on both sides make sure that at least one of them sees the other, so work that is left in the line
        // is not forgotten (rule 16).
        fence(Ordering::SeqCst);
        let has_other_work = self.conditions.site.is_alone() && elsewhere();
        let mut worked = false;
        if !has_other_work && self.pull(held.state(), &mut worked) {
            held.close();
            return Poked::Worked;
        }
        held.let_go();
        // A thread that made room while this thread held the baton has woken nobody, so this thread looks
        // again (rule 7).
        if !NO_LOOK_AFTER_PULL.is_on()
            && self.is_ready()
            && self.conditions.gate.as_ref().is_none_or(|gate| gate.is_worth_waking())
        {
            self.conditions.site.run.event.notify();
        }
        if worked { Poked::Worked } else { Poked::Idle }
    }

    fn is_ready(&self) -> bool {
        let run = &self.conditions.site.run;
        self.baton.word().is_free()
            && self.conditions.domain.has_room()
            && self.conditions.gate.as_ref().is_none_or(|gate| gate.allows_weight())
            && (run.is_draining() || run.may_pull() && self.conditions.is_fed())
    }

    fn is_held(&self) -> bool {
        let word = self.baton.word();
        !word.is_free() && !word.is_closed()
    }

    fn taken(&self) -> u64 {
        // The cell that closed the node is not an item.
        self.conditions.domain.made().saturating_sub(u64::from(self.baton.word().is_closed()))
    }

    fn given(&self) -> u64 {
        self.taken()
    }

    fn mean_ns(&self) -> u64 {
        Mean::from_bits(self.mean.load(Ordering::Relaxed)).nanos()
    }
}

/// The source of a direct line.
struct DirectSource<'run, P: Pull> {
    spot: Spot<P::Error>,
    pull: P,
    next: Box<dyn Step<P::Item> + 'run>,
    length: Length,
}

impl<P: Pull> DirectSource<'_, P> {
    /// Does what somebody has ordered from outside. Returns whether the source is not to be asked again.
    #[cold]
    fn obey(&mut self, turn: &mut Turn) -> bool {
        let run = &*self.spot.run;
        run.wait_while_paused();
        if run.is_done() {
            // A token has cancelled the run. Items that stages have kept are dropped with the stages.
            return true;
        }
        if run.is_stopping() {
            self.next.cell(turn, Cell::Stop(Stop::End));
            return true;
        }
        false
    }

    #[cold]
    fn end(&mut self, turn: &mut Turn, error: Option<P::Error>) {
        let stop = match error {
            None => Stop::End,
            Some(error) => self.spot.fail(turn.index(), error),
        };
        // A source that waits from outside also ends because the run was cancelled. Then the stages drop what they have kept.
        if !self.spot.run.is_done() {
            self.next.cell(turn, Cell::Stop(stop));
        }
    }

    /// Passes one item on, or one block of items. Returns what the source has given.
    #[inline]
    fn step(&mut self, turn: &mut Turn) -> Pulled<Demand, P::Error> {
        if !P::IN_BATCHES {
            return match self.pull.pull() {
                Pulled::Item(item) => Pulled::Item(self.next.item(turn, item)),
                Pulled::End => Pulled::End,
                Pulled::Fail(error) => Pulled::Fail(error),
            };
        }
        self.pull.limit(self.length.next_direct());
        let began = Moment::now();
        match self.pull.pull_cell() {
            Pulled::Item(cell) => {
                let demand = self.next.cell(turn, cell);
                self.length.took(began.elapsed());
                Pulled::Item(demand)
            }
            Pulled::End => Pulled::End,
            Pulled::Fail(error) => Pulled::Fail(error),
        }
    }
}

impl<P: Pull> Drive for DirectSource<'_, P> {
    fn drive(&mut self) -> u64 {
        // It is no part of `self`, so that the fields of the source stay in registers.
        let turn = &mut Turn::without_lanes(0);
        let error = loop {
            if self.spot.run.has_orders() && self.obey(turn) {
                return turn.index();
            }
            match self.step(turn) {
                Pulled::Item(Demand::More) => turn.advance(),
                Pulled::Item(Demand::Nothing) => return turn.index(),
                Pulled::End => break None,
                Pulled::Fail(error) => break Some(error),
            }
        };
        self.end(turn, error);
        turn.index()
    }
}
