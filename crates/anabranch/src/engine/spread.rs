//! A serial node that makes any number of items of each item. The items behind it have indices and a window
//! of their own.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc as StdArc;

use anabranch_record::Word;
use anabranch_record::lane::{Cell, Domain, Indices, Stop};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, Ordering};

use super::assembly::Assembly;
use super::consumer::{Consumer, Read};
use super::direct::{DirectSpread, pass_of};
use super::failure::{Cause, ErrorSlot};
use super::input::{Drain, DrainWatch, Lane};
use super::measures::Crossing;
use super::push::{Demand, Out};
use super::quantum::{Quantum, Served};
use super::serving::{ServedNode, Serving};
use super::site::{Site, Spot};
use super::upstream::Upstream;
use crate::engine::pull::Pulled;
use crate::engine::{Later, Spread};

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
        if assembly.is_direct() {
            let stage = DirectSpread::new(assembly.spot(id, &errors), op, pass_of(consumer));
            let consumer = Consumer::pass(assembly, id, stage);
            return before.connect(assembly, consumer);
        }
        let out = assembly.after_serial(id, consumer);
        let read = SpreadRead::<T, E, Op> { id, errors, op, out, takes: PhantomData };
        before.connect(assembly, Consumer::read(id, read));
    }
}

/// A spreading stage that reads a lane.
struct SpreadRead<'run, T, E, Op: Spread<T, E>> {
    id: usize,
    errors: Arc<ErrorSlot<E>>,
    op: Op,
    out: Out<'run, Op::Out>,
    takes: PhantomData<fn(T)>,
}

impl<T: Send, E: Send, Op: Spread<T, E>> Read<T> for SpreadRead<'_, T, E, Op> {
    fn read<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, lane: Lane<T>)
    where
        Self: 'run,
    {
        let Self { id, errors, op, out, .. } = *self;
        let drain = assembly.drain_before(id, lane);
        let crossing = assembly.crossing(id);
        let (word, indices) = (assembly.word_of(id), assembly.indices_of(id));
        let spot = assembly.spot(id, &errors);
        let node = SpreadNode::<T, Op, E>::new(spot, drain, indices, op, out, crossing, word);
        assembly.serial(id, node);
    }
}

pub(crate) struct SpreadState<'run, T: Send, Op: Spread<T, E>, E> {
    drain: Drain<T>,
    indices: Indices,
    op: Op,
    out: Out<'run, Op::Out>,
    /// The items of the last cell that are not opened yet, in reverse order.
    waiting: Vec<T>,
    /// Whether an item is open: the operation may have more results of it.
    is_open: bool,
    /// Whether the index of the last cell was not given back yet.
    has_cell: bool,
    /// The stop of the last cell. It is passed on after the cell's items.
    stop: Option<Stop>,
    /// Whether the operation was told that the stream has ended.
    has_ended: bool,
    /// How often in a row results of [`Later`] came first.
    later_in_a_row: u32,
    crossing: Option<Crossing>,
    fails: PhantomData<fn(E)>,
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
        op: Op,
        out: Out<'run, Op::Out>,
        crossing: Option<Crossing>,
        word: Arc<Word>,
    ) -> ServedNode<Self> {
        let (watch, domain) = (drain.watch(), Arc::clone(indices.domain()));
        let later = op.later();
        let state = SpreadState {
            drain,
            indices,
            op,
            out,
            waiting: Vec::new(),
            is_open: false,
            has_cell: false,
            stop: None,
            has_ended: false,
            later_in_a_row: 0,
            crossing,
            fails: PhantomData,
        };
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
        if state.is_open {
            match state.op.next() {
                Pulled::Item(item) => {
                    quantum.tally.given += 1;
                    return Self::put(state, Cell::Value(item));
                }
                Pulled::End => {
                    state.is_open = false;
                    Self::pass(state);
                }
                Pulled::Fail(error) => {
                    self.spot.fail(state.indices.next(), error);
                    Self::put(state, Cell::Stop(Stop::Fail));
                    return Some(Served::Closed);
                }
            }
            return None;
        }
        if state.later_in_a_row < LATER_IN_A_ROW && self.is_later_ready() {
            state.later_in_a_row += 1;
            state.is_open = true;
            return None;
        }
        let served = self.take(state, quantum);
        // A serving that finds nothing from its first step on lets the worker go on to the source.
        if served != Some(Served::Drained) || quantum.is_fresh() {
            state.later_in_a_row = 0;
        }
        served
    }

    /// Opens an item, or takes a cell. Returns how the serving ends, if it ends here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&self, state: &mut SpreadState<'run, T, Op, E>, quantum: &mut Quantum) -> Option<Served> {
        if !state.waiting.is_empty() {
            if !self.may_open() {
                return Some(Served::Drained);
            }
            // `open_last` removes the item from the list before it opens it. If it panics, the item is not opened
            // again.
            state.is_open = state.op.open_last(&mut state.waiting);
            if !state.is_open {
                Self::pass(state);
            }
        } else if let Some(stop) = state.stop {
            if state.op.idle() {
                state.is_open = true;
            } else if stop == Stop::End && !std::mem::replace(&mut state.has_ended, true) {
                state.is_open = state.op.end();
            } else if self.later.as_ref().is_some_and(|later| later.is_waiting()) {
                return Some(Served::Drained);
            } else {
                Self::put(state, Cell::Stop(stop));
                return Some(Served::Closed);
            }
        } else {
            let Some(cell) = self.may_open().then(|| state.drain.take()).flatten() else {
                if state.op.idle() {
                    state.is_open = true;
                    return None;
                }
                return Some(Served::Drained);
            };
            state.has_cell = true;
            quantum.tally.cells += 1;
            quantum.tally.items += cell.len();
            match cell {
                Cell::Value(item) => state.waiting.push(item),
                Cell::Empty => {}
                Cell::Stop(stop) => state.stop = Some(stop),
                Cell::Batch(batch) => {
                    state.stop = batch.stop;
                    state.waiting.extend(batch.items.into_iter().rev());
                }
            }
            Self::pass(state);
        }
        None
    }

    /// Gives back the index of the last cell, if all of its results were given.
    fn pass(state: &mut SpreadState<'run, T, Op, E>) {
        if state.has_cell && !state.is_open && state.waiting.is_empty() && state.stop.is_none() {
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
        let demand = state.out.push(state.indices.open(), cell);
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
            let index = match state.indices.turn() {
                turn if turn.is_open() => turn.index(),
                _ => state.indices.next(),
            };
            self.spot.halt(index, Cause::Panic(payload));
            let turn =
                if state.indices.turn().is_open() { state.indices.turn() } else { state.indices.open() };
            state.out.push(turn, Cell::Stop(Stop::Fail));
            Served::Closed
        });
        state.indices.show();
        let is_open = state.is_open || !state.waiting.is_empty() || state.stop.is_some() || state.op.holds();
        self.is_open.store(is_open, Ordering::Relaxed);
        if self.later.is_some() {
            let is_last = state.stop.is_some_and(|stop| stop == Stop::Fail || state.has_ended);
            self.gives.store(state.is_open, Ordering::Relaxed);
            self.is_ending.store(is_last && state.waiting.is_empty(), Ordering::Relaxed);
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
