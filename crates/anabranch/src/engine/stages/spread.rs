//! A serial node that makes any number of items of each item. The items behind it have indices and a window
//! of their own.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc as StdArc;

use anabranch_record::Word;
use anabranch_record::lane::{Cell, Domain, Indices, Stop, Turn};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, Ordering};

use crate::engine::build::assembly::Assembly;
use crate::engine::build::consumer::Consumer;
use crate::engine::build::upstream::Upstream;
use crate::engine::nodes::input::{Drain, DrainWatch};
use crate::engine::nodes::pull::Pulled;
use crate::engine::nodes::quantum::{Quantum, Served};
use crate::engine::nodes::serving::{ServedNode, Serving};
use crate::engine::nodes::step::{Demand, Out, Step, stop_at_panic};
use crate::engine::state::failure::ErrorSlot;
use crate::engine::state::site::{Site, Spot};
use crate::engine::{Later, Spread};
use crate::measures::Crossing;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_LOOK_FOR_LATER: Mutant = Mutant("no_look_for_later");
const UNBOUNDED_LATER: Mutant = Mutant("unbounded_later");

/// After so many results in a row that stages behind have made ready, the node opens an item, or a worker goes on to the source. So
/// a future that wakes itself at each poll does not keep the only worker from the source.
const LATER_IN_A_ROW: u32 = 64;

/// A spreading stage and everything before it.
pub(crate) struct SpreadUpstream<'env, T: Send, E, Op> {
    pub(crate) before: Box<dyn Upstream<T> + 'env>,
    pub(crate) errors: Arc<ErrorSlot<E>>,
    pub(crate) op: Op,
    pub(crate) id: usize,
}

impl<T: Send, E: Send, Op: Spread<T, E>> Upstream<Op::Out> for SpreadUpstream<'_, T, E, Op> {
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, Op::Out>)
    where
        Self: 'run,
    {
        let Self { before, errors, mut op, id } = *self;
        op.limit(assembly.items_in_blocks(id));
        op.starts(&assembly.run, assembly.plan.domains[assembly.domain_of(id)].ordered);
        let (spot, opening) = (assembly.spot(id, &errors), Opening::new(op));
        if assembly.is_direct() {
            let (next, turn) = (consumer.into_direct(), Turn::without_lanes(0));
            let consumer = Consumer::direct(assembly, id, DirectSpread { spot, opening, next, turn });
            return before.connect(assembly, consumer);
        }
        let out = assembly.after_serial(id, consumer);
        let read = move |assembly: &mut Assembly<'run>, lane| {
            let drain = assembly.drain_before(id, lane);
            let crossing = assembly.crossing(id);
            let (word, indices) = (assembly.word_of(id), assembly.indices_of(id));
            assembly.serial(id, SpreadNode::new(spot, drain, indices, opening, out, crossing, word));
        };
        before.connect(assembly, Consumer::lane(id, read));
    }
}

/// A spreading operation, and what it has still to open.
pub(crate) struct Opening<T, E, Op> {
    op: Op,
    /// The items of the last cell that are not opened yet, in reverse order.
    waiting: Vec<T>,
    /// Whether an item is open: the operation may have more results of it.
    is_open: bool,
    /// The stop of the last cell. It is passed on after the cell's items.
    stop: Option<Stop>,
    /// Whether the operation was told that the stream has ended.
    has_ended: bool,
    fails: PhantomData<fn(E)>,
}

/// The result of a step of an [`Opening`].
enum Given<U, E> {
    Result(U),
    /// Nothing. The next step may give something.
    Nothing,
    /// The stream stops here, because the items before have ended.
    Stop(Stop),
    Fail(E),
    /// Nothing, until a stage behind has made a result ready or has left room.
    Waits,
    /// Nothing, until another cell comes.
    NeedsCell,
}

impl<T, E, Op: Spread<T, E>> Opening<T, E, Op> {
    fn new(op: Op) -> Self {
        Self { op, waiting: Vec::new(), is_open: false, stop: None, has_ended: false, fails: PhantomData }
    }

    /// Whether there may be results without another cell.
    fn has_more(&self) -> bool {
        self.is_open || !self.waiting.is_empty() || self.stop.is_some()
    }

    /// Takes a cell. All results of the cell before were given.
    #[inline]
    fn take(&mut self, cell: Cell<T>) {
        match cell {
            Cell::Value(item) => self.waiting.push(item),
            Cell::Empty => {}
            Cell::Stop(stop) => self.stop = Some(stop),
            Cell::Batch(mut batch) => self.take_all(&mut batch.items, batch.stop),
        }
    }

    fn take_all(&mut self, items: &mut Vec<T>, stop: Option<Stop>) {
        self.waiting.extend(items.drain(..).rev());
        self.stop = stop;
    }

    /// Gives a result, opens an item, or ends. `may_open` says whether another item may be opened, and `is_waiting` whether results
    /// are still to come that stages behind make ready.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn step(
        &mut self,
        may_open: impl FnOnce() -> bool,
        is_waiting: impl FnOnce() -> bool,
    ) -> Given<Op::Out, E> {
        if self.is_open {
            return match self.op.next() {
                Pulled::Item(item) => Given::Result(item),
                Pulled::Fail(error) => Given::Fail(error),
                Pulled::End => {
                    self.is_open = false;
                    Given::Nothing
                }
            };
        }
        if !self.waiting.is_empty() {
            if !may_open() {
                return Given::Waits;
            }
            // `open_last` removes the item from the list before it opens it. If it panics, the item is not opened
            // again.
            self.is_open = self.op.open_last(&mut self.waiting);
            return Given::Nothing;
        }
        let Some(stop) = self.stop else { return Given::NeedsCell };
        if self.op.idle() {
            self.is_open = true;
        } else if stop == Stop::End && !std::mem::replace(&mut self.has_ended, true) {
            self.is_open = self.op.end();
        } else if is_waiting() {
            return Given::Waits;
        } else {
            return Given::Stop(stop);
        }
        Given::Nothing
    }
}

/// A spreading stage of a direct line. The items behind it have indices of their own.
struct DirectSpread<'run, T, E, Op: Spread<T, E>> {
    spot: Spot<E>,
    opening: Opening<T, E, Op>,
    next: Box<dyn Step<Op::Out> + 'run>,
    /// The turn of the next result.
    turn: Turn,
}

impl<T, E, Op: Spread<T, E>> DirectSpread<'_, T, E, Op> {
    /// Gives all results, and what the operation keeps: here, nothing else is ready before the next cell.
    #[inline]
    fn give(&mut self) -> Demand {
        let Self { spot, opening, next, turn } = self;
        while !spot.run.is_ending() {
            match opening.step(|| true, || false) {
                Given::Result(item) => {
                    if next.item(turn, item) == Demand::Nothing {
                        return Demand::Nothing;
                    }
                    turn.advance();
                }
                Given::Nothing => {}
                Given::NeedsCell if opening.op.idle() => opening.is_open = true,
                Given::NeedsCell | Given::Waits => return Demand::More,
                Given::Stop(stop) => return next.cell(turn, Cell::Stop(stop)),
                Given::Fail(error) => {
                    let stop = spot.fail(turn.index(), error);
                    return next.cell(turn, Cell::Stop(stop));
                }
            }
        }
        Demand::Nothing
    }
}

impl<T: Send, E, Op: Spread<T, E>> Step<T> for DirectSpread<'_, T, E, Op> {
    #[inline]
    fn item(&mut self, _: &mut Turn, item: T) -> Demand {
        self.opening.op.open(item);
        self.opening.is_open = true;
        self.give()
    }

    fn items(&mut self, _: &mut Turn, items: &mut Vec<T>, stop: Option<Stop>) -> Demand {
        self.opening.take_all(items, stop);
        self.give()
    }

    fn take_gain(&mut self) -> i64 {
        0
    }
}

pub(crate) struct SpreadState<'run, T: Send, Op: Spread<T, E>, E> {
    drain: Drain<T>,
    indices: Indices,
    opening: Opening<T, E, Op>,
    out: Out<'run, Op::Out>,
    /// Whether the index of the last cell was not given back yet.
    has_cell: bool,
    /// How often in a row results of [`Later`] came first.
    later_in_a_row: u32,
    crossing: Option<Crossing>,
}

/// The node of a spreading stage.
struct SpreadNode<'run, T: Send, Op: Spread<T, E>, E> {
    /// The node's place. Its domain is the one that the node opens.
    spot: Spot<E>,
    op: PhantomData<fn(Op)>,
    watch: DrainWatch<T>,
    domain: Arc<Domain>,
    /// Whether the last cell still has results to give. Then the node has work even if the lane before it is
    /// empty.
    is_open: AtomicBool,
    /// The results that stages behind the node make ready.
    later: Option<StdArc<dyn Later + 'run>>,
    /// Whether the operation has results to give. They need no room that [`Later::has_room`] counts.
    gives: AtomicBool,
    /// Whether only results of `later` are to come before the stop of the stream.
    is_ending: AtomicBool,
}

impl<'run, T, Op, E> SpreadNode<'run, T, Op, E>
where
    T: Send,
    E: Send,
    Op: Spread<T, E> + 'run,
{
    fn new(
        spot: Spot<E>,
        drain: Drain<T>,
        indices: Indices,
        opening: Opening<T, E, Op>,
        out: Out<'run, Op::Out>,
        crossing: Option<Crossing>,
        word: Arc<Word>,
    ) -> ServedNode<Self> {
        let (watch, domain) = (drain.watch(), Arc::clone(indices.domain()));
        let later = opening.op.later();
        let state =
            SpreadState { drain, indices, opening, out, has_cell: false, later_in_a_row: 0, crossing };
        let flag = || AtomicBool::new(false);
        let (is_open, gives, is_ending) = (flag(), flag(), flag());
        let node = Self { spot, op: PhantomData, watch, domain, is_open, later, gives, is_ending };
        ServedNode::with_word(node, state, word)
    }

    /// Whether a result is ready that a stage behind the node has made ready.
    fn is_later_ready(&self) -> bool {
        self.later.as_ref().is_some_and(|later| later.is_ready())
    }

    /// Whether another item may be opened.
    fn may_open(&self) -> bool {
        let has_room = |later: &StdArc<dyn Later + '_>| later.has_room(self.domain.window());
        UNBOUNDED_LATER.is_on() || self.later.as_ref().is_none_or(has_room)
    }

    /// Takes one step: gives an item, opens an item, or takes a cell. Returns how the serving ends, if it
    /// ends here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn advance(&self, state: &mut SpreadState<'run, T, Op, E>, quantum: &mut Quantum) -> Option<Served> {
        let was_open = state.opening.is_open;
        if !was_open && state.later_in_a_row < LATER_IN_A_ROW && self.is_later_ready() {
            state.later_in_a_row += 1;
            state.opening.is_open = true;
            return None;
        }
        let is_waiting = || self.later.as_ref().is_some_and(|later| later.is_waiting());
        let served = match state.opening.step(|| self.may_open(), is_waiting) {
            Given::Result(item) => {
                quantum.tally.given += 1;
                return Self::put(state, Cell::Value(item));
            }
            Given::Nothing => {
                Self::pass(state);
                None
            }
            Given::Stop(stop) => {
                Self::put(state, Cell::Stop(stop));
                Some(Served::Closed)
            }
            Given::Fail(error) => {
                let stop = self.spot.fail(state.indices.next(), error);
                Self::put(state, Cell::Stop(stop));
                Some(Served::Closed)
            }
            Given::Waits => Some(Served::Drained),
            Given::NeedsCell => self.take(state, quantum),
        };
        // A serving that finds nothing from its first step on lets the worker go on to the source.
        if !was_open && (served != Some(Served::Drained) || quantum.is_fresh()) {
            state.later_in_a_row = 0;
        }
        served
    }

    /// Takes a cell. Returns how the serving ends, if it ends here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&self, state: &mut SpreadState<'run, T, Op, E>, quantum: &mut Quantum) -> Option<Served> {
        let Some(cell) = self.may_open().then(|| state.drain.take()).flatten() else {
            state.opening.is_open = state.opening.op.idle();
            return (!state.opening.is_open).then_some(Served::Drained);
        };
        state.has_cell = true;
        quantum.tally.cells += 1;
        quantum.tally.items += cell.len();
        state.opening.take(cell);
        Self::pass(state);
        None
    }

    /// Gives back the index of the last cell, if all of its results were given.
    fn pass(state: &mut SpreadState<'run, T, Op, E>) {
        if state.has_cell && !state.opening.has_more() {
            state.has_cell = false;
            state.drain.release();
            if let Some(crossing) = &mut state.crossing {
                crossing.has_left();
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put(state: &mut SpreadState<'run, T, Op, E>, cell: Cell<Op::Out>) -> Option<Served> {
        if let Some(crossing) = &mut state.crossing {
            crossing.enters(state.indices.next());
        }
        let demand = state.out.cell(state.indices.open(), cell);
        (demand == Demand::Nothing).then_some(Served::Closed)
    }
}

impl<'run, T, Op, E> Serving for SpreadNode<'run, T, Op, E>
where
    T: Send,
    E: Send,
    Op: Spread<T, E> + 'run,
{
    type State = SpreadState<'run, T, Op, E>;
    const MAY_BLOCK: bool = true;
    const COUNTS_CELLS: bool = true;

    fn site(&self) -> &Site {
        &self.spot.site
    }

    fn serve(&self, state: &mut SpreadState<'run, T, Op, E>, quantum: &mut Quantum) -> Served {
        let served = catch_unwind(AssertUnwindSafe(|| {
            loop {
                // The room is checked first. The calls below may fail, and a failure needs an index too.
                if state.indices.room() == 0 || self.domain.is_stopped() {
                    return Served::Drained;
                }
                let given = quantum.tally.given;
                if let Some(served) = self.advance(state, quantum) {
                    return served;
                }
                // A worker that is alone takes each result to the sink before it asks for the next one, which may block.
                let goes_to_the_sink = quantum.tally.given > given && self.spot.is_alone();
                if quantum.count() || goes_to_the_sink || self.spot.run.is_ending() {
                    return Served::Quantum;
                }
            }
        }));
        let served = served.unwrap_or_else(|payload| {
            let is_open = state.indices.turn().is_open();
            let turn = if is_open { state.indices.turn() } else { state.indices.open() };
            stop_at_panic(&self.spot, payload, turn, |turn, cell| state.out.cell(turn, cell));
            Served::Closed
        });
        state.indices.show();
        quantum.gain += state.out.take_gain();
        let opening = &state.opening;
        self.is_open.store(opening.has_more() || opening.op.holds(), Ordering::Relaxed);
        if self.later.is_some() {
            let is_last = opening.stop.is_some_and(|stop| stop == Stop::Fail || opening.has_ended);
            self.gives.store(opening.is_open, Ordering::Relaxed);
            self.is_ending.store(is_last && opening.waiting.is_empty(), Ordering::Relaxed);
        }
        served
    }

    fn has_work(&self) -> bool {
        if !self.domain.has_room() || self.domain.is_stopped() {
            return false;
        }
        let has_work = || self.watch.is_ready() || self.is_open.load(Ordering::Relaxed);
        match &self.later {
            None => has_work(),
            Some(later) if later.is_ready() && !NO_LOOK_FOR_LATER.is_on() => true,
            Some(_) if self.gives.load(Ordering::Relaxed) => true,
            Some(later) if self.is_ending.load(Ordering::Relaxed) => !later.is_waiting(),
            Some(_) => has_work() && self.may_open(),
        }
    }

    fn needs_room(&self) -> bool {
        true
    }

    fn cells(&self) -> u64 {
        self.watch.taken()
    }

    fn given(&self) -> Option<u64> {
        Some(self.domain.made())
    }
}
