//! Direct lines: the executor for a worker that is alone, in a stream in which each item only goes from the source to the sink.
//!
//! The nodes of other lines take each cell with a turn, and may count it. A line is direct if it has no branches and
//! no loops. Then no lane carries a cell, so an index is just a number. An item goes from one stage to the next by one call, as
//! a value. If the run is measured, each call also goes through a [`Timed`] node.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::rc::Rc;

use anabranch_record::lane::{Cell, Stop};
use anabranch_record::sync::Arc;

use super::assembly::Assembly;
use super::blocks::Length;
use super::cell::{Give, ItemOp, ParallelItems, SerialItems, by_pointer, stopped, through};
use super::clock::Moment;
use super::consumer::Consumer;
use super::end::LineEnd;
use super::failure::ErrorSlot;
use super::measures::{Mark, Stopwatch};
use super::node::Drive;
use super::push::{Demand, Pass};
use super::site::Spot;
use crate::engine::progress::Reporter;
use crate::engine::pull::{Pull, Pulled};
use crate::engine::{Parallel, Serial, Spread};

/// A stage of a direct line.
pub(crate) struct DirectStage<'run, T, U, E, O> {
    spot: Spot<E>,
    op: O,
    next: Box<dyn Pass<U> + 'run>,
    takes: PhantomData<fn(T)>,
}

impl<'run, T, U, E, O: ItemOp<T, U, E>> DirectStage<'run, T, U, E, O> {
    pub(crate) fn new(spot: Spot<E>, op: O, next: Box<dyn Pass<U> + 'run>) -> Self {
        Self { spot, op, next, takes: PhantomData }
    }
}

impl<T: Send, U: Send, E, O: ItemOp<T, U, E>> Pass<T> for DirectStage<'_, T, U, E, O> {
    #[inline]
    fn pass(&mut self, index: u64, item: T) -> Demand {
        let Self { spot, op, next, .. } = self;
        if op.gives_many() {
            return self.pass_cell(index, Cell::Value(item));
        }
        let mut given = None;
        let flow = op.one(item, &mut given);
        match (flow, given) {
            (ControlFlow::Continue(()), Some(result)) => next.pass(index, result),
            (ControlFlow::Continue(()), None) => next.pass_cell(index, Cell::Empty),
            (ControlFlow::Break(halt), given) => {
                let cell = stopped(spot, index, given, halt, &mut |given| op.finish(given));
                next.pass_cell(index, cell)
            }
        }
    }

    fn pass_cell(&mut self, index: u64, cell: Cell<T>) -> Demand {
        let Self { spot, op, next, .. } = self;
        let call = by_pointer!(op, super::cell::ItemOp<T, U, E>);
        through(spot, index, cell, call, Next { index, next: &mut **next })
    }
}

/// A parallel stage of a direct line, with its state.
pub(crate) struct DirectParallel<'run, T, E, Op: Parallel<T, E>> {
    spot: Spot<E>,
    op: Op,
    /// Created when the first item comes.
    local: Option<Op::Local>,
    next: Box<dyn Pass<Op::Out> + 'run>,
}

impl<'run, T, E, Op: Parallel<T, E>> DirectParallel<'run, T, E, Op> {
    pub(crate) fn new(spot: Spot<E>, op: Op, next: Box<dyn Pass<Op::Out> + 'run>) -> Self {
        Self { spot, op, local: None, next }
    }
}

impl<T: Send, E, Op: Parallel<T, E>> Pass<T> for DirectParallel<'_, T, E, Op> {
    #[inline]
    fn pass(&mut self, index: u64, item: T) -> Demand {
        if Op::GIVES_MANY {
            return self.pass_cell(index, Cell::Value(item));
        }
        let Self { spot, op, local, next } = self;
        let local = local.get_or_insert_with(|| op.local());
        let mut given = None;
        let flow = op.call(local, item, &mut |result| given = Some(result));
        match (flow, given) {
            (ControlFlow::Continue(()), Some(result)) => next.pass(index, result),
            (ControlFlow::Continue(()), None) => next.pass_cell(index, Cell::Empty),
            (ControlFlow::Break(halt), given) => {
                let cell = stopped(spot, index, given, halt, &mut |_| ControlFlow::Continue(()));
                next.pass_cell(index, cell)
            }
        }
    }

    fn pass_cell(&mut self, index: u64, cell: Cell<T>) -> Demand {
        let Self { spot, op, local, next } = self;
        if cell.is_empty() {
            // The state is created for the first item.
            return next.pass_cell(index, cell.stop().map_or(Cell::Empty, Cell::Stop));
        }
        let local = local.get_or_insert_with(|| op.local());
        let mut items = ParallelItems { op, local };
        let call = by_pointer!(&mut items, super::cell::ItemOp<T, Op::Out, E>);
        through(spot, index, cell, call, Next { index, next: &mut **next })
    }
}

/// A spreading stage of a direct line. The items behind it have indices of their own.
pub(crate) struct DirectSpread<'run, T, E, Op: Spread<T, E>> {
    spot: Spot<E>,
    op: Op,
    next: Box<dyn Pass<Op::Out> + 'run>,
    /// The index of the next result.
    index: u64,
    takes: PhantomData<fn(T)>,
}

impl<'run, T, E, Op: Spread<T, E>> DirectSpread<'run, T, E, Op> {
    pub(crate) fn new(spot: Spot<E>, op: Op, next: Box<dyn Pass<Op::Out> + 'run>) -> Self {
        Self { spot, op, next, index: 0, takes: PhantomData }
    }

    /// Gives the results of what is open.
    #[inline]
    fn give(&mut self) -> Demand {
        let Self { spot, op, next, index, .. } = self;
        while !spot.run.is_ending() {
            let at = *index;
            match op.next() {
                Pulled::Item(item) => {
                    *index += 1;
                    if next.pass(at, item) == Demand::Nothing {
                        return Demand::Nothing;
                    }
                }
                Pulled::End => return Demand::More,
                Pulled::Fail(error) => {
                    spot.fail(at, error);
                    return next.pass_cell(at, Cell::Stop(Stop::Fail));
                }
            }
        }
        Demand::Nothing
    }

    /// Gives what the operation keeps: here, nothing else is ready before the next cell.
    #[inline]
    fn give_kept(&mut self) -> Demand {
        if self.op.idle() { self.give() } else { Demand::More }
    }
}

impl<T: Send, E, Op: Spread<T, E>> Pass<T> for DirectSpread<'_, T, E, Op> {
    #[inline]
    fn pass(&mut self, _: u64, item: T) -> Demand {
        self.op.open(item);
        match self.give() {
            Demand::More => self.give_kept(),
            Demand::Nothing => Demand::Nothing,
        }
    }

    fn pass_cell(&mut self, _: u64, cell: Cell<T>) -> Demand {
        let stop = cell.stop();
        for item in cell.into_items() {
            self.op.open(item);
            if self.give() == Demand::Nothing {
                return Demand::Nothing;
            }
        }
        if self.give_kept() == Demand::Nothing {
            return Demand::Nothing;
        }
        if stop == Some(Stop::End) && self.op.end() && self.give() == Demand::Nothing {
            return Demand::Nothing;
        }
        match stop {
            Some(stop) => self.next.pass_cell(self.index, Cell::Stop(stop)),
            None => Demand::More,
        }
    }
}

/// The sink of a direct line.
pub(crate) struct DirectSink<'run, T, E, Op> {
    spot: Spot<E>,
    op: SerialItems<Op>,
    end: LineEnd<'run>,
    takes: PhantomData<fn(T)>,
}

impl<'run, T, E, Op> DirectSink<'run, T, E, Op> {
    pub(crate) fn new(
        assembly: &mut Assembly<'run>,
        op: Op,
        errors: &Arc<ErrorSlot<E>>,
        reporter: Option<Reporter<'run>>,
    ) -> Self {
        let id = assembly.sink();
        let (spot, end) = (assembly.spot(id, errors), assembly.line_end(id, reporter));
        Self { spot, op: SerialItems(op), end, takes: PhantomData }
    }
}

impl<T: Send, E, Op: Serial<T, E, Out = Infallible>> Pass<T> for DirectSink<'_, T, E, Op> {
    #[inline]
    fn pass(&mut self, index: u64, item: T) -> Demand {
        match self.op.one(item, &mut None) {
            ControlFlow::Continue(()) => self.end.pass_direct(index),
            ControlFlow::Break(halt) => {
                stopped(&self.spot, index, None, halt, &mut |given| self.op.finish(given));
                self.end.stop(index, false, &self.spot);
                Demand::Nothing
            }
        }
    }

    fn pass_cell(&mut self, index: u64, cell: Cell<T>) -> Demand {
        let is_item = self.spot.run.is_item(&cell);
        let call = by_pointer!(&mut self.op, super::cell::ItemOp<T, Infallible, E>);
        if through(&self.spot, index, cell, call, Stops) {
            self.end.stop(index, is_item, &self.spot);
            return Demand::Nothing;
        }
        self.end.pass_direct(index)
    }
}

/// A node of a direct line that is measured.
pub(crate) struct Timed<'run, S> {
    id: usize,
    stopwatch: Rc<Stopwatch>,
    enters: Mark,
    leaves: Mark,
    node: Box<dyn Pass<S> + 'run>,
}

impl<'run, S: Send> Timed<'run, S> {
    pub(crate) fn new(
        assembly: &Assembly<'run>,
        id: usize,
        stopwatch: Rc<Stopwatch>,
        node: Box<dyn Pass<S> + 'run>,
    ) -> Self {
        let (enters, leaves) = assembly.marks(id);
        Self { id, stopwatch, enters, leaves, node }
    }

    /// Measures `pass`, which takes a cell with this many items.
    #[inline]
    fn measure(
        &mut self,
        index: u64,
        items: u64,
        pass: impl FnOnce(&mut (dyn Pass<S> + 'run)) -> Demand,
    ) -> Demand {
        self.enters.enters(index);
        let giver = self.stopwatch.enter(self.id, items);
        let demand = pass(&mut *self.node);
        self.stopwatch.leave(self.id, giver);
        self.leaves.has_left(index);
        demand
    }
}

impl<S: Send> Pass<S> for Timed<'_, S> {
    fn pass(&mut self, index: u64, item: S) -> Demand {
        self.measure(index, 1, |node| node.pass(index, item))
    }

    fn pass_cell(&mut self, index: u64, cell: Cell<S>) -> Demand {
        self.measure(index, cell.len(), |node| node.pass_cell(index, cell))
    }
}

/// Passes on what a stage gives for one cell.
struct Next<'s, U> {
    index: u64,
    next: &'s mut (dyn Pass<U> + 's),
}

impl<U: Send> Give<U> for Next<'_, U> {
    type Then = Demand;

    fn value(self, result: U) -> Demand {
        self.next.pass(self.index, result)
    }

    fn nothing(self) -> Demand {
        self.next.pass_cell(self.index, Cell::Empty)
    }

    fn rarely(self, cell: Cell<U>) -> Demand {
        self.next.pass_cell(self.index, cell)
    }
}

/// Says whether the stream stops at a cell.
struct Stops;

impl Give<Infallible> for Stops {
    type Then = bool;

    fn value(self, result: Infallible) -> bool {
        match result {}
    }

    fn nothing(self) -> bool {
        false
    }

    fn rarely(self, cell: Cell<Infallible>) -> bool {
        cell.stop().is_some()
    }
}

/// The source of a direct line.
pub(crate) struct DirectSource<'run, P: Pull> {
    pub(crate) spot: Spot<P::Error>,
    pub(crate) pull: P,
    pub(crate) next: Box<dyn Pass<P::Item> + 'run>,
    pub(crate) length: Length,
}

impl<P: Pull> DirectSource<'_, P> {
    /// Does what somebody has ordered from outside. Returns whether the source is not to be asked again.
    #[cold]
    fn obey(&mut self, index: u64) -> bool {
        let run = &*self.spot.run;
        run.wait_while_paused();
        if run.is_done() {
            // A token has cancelled the run. Items that stages have kept are dropped with the stages.
            return true;
        }
        if run.is_stopping() {
            self.next.pass_cell(index, Cell::Stop(Stop::End));
            return true;
        }
        false
    }

    #[cold]
    fn end(&mut self, index: u64, error: Option<P::Error>) {
        let stop = match error {
            None => Stop::End,
            Some(error) => {
                self.spot.fail(index, error);
                Stop::Fail
            }
        };
        // A source that waits from outside also ends because the run was cancelled. Then the stages drop what they have kept.
        if !self.spot.run.is_done() {
            self.next.pass_cell(index, Cell::Stop(stop));
        }
    }

    /// Passes one item on, or one block of items. Returns what the source has given.
    #[inline]
    fn step(&mut self, index: u64) -> Pulled<Demand, P::Error> {
        if !P::IN_BATCHES {
            return match self.pull.pull() {
                Pulled::Item(item) => Pulled::Item(self.next.pass(index, item)),
                Pulled::End => Pulled::End,
                Pulled::Fail(error) => Pulled::Fail(error),
            };
        }
        self.pull.limit(self.length.next_direct());
        let began = Moment::now();
        match self.pull.pull_cell() {
            Pulled::Item(cell) => {
                let demand = self.next.pass_cell(index, cell);
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
        let mut index = 0;
        loop {
            if self.spot.run.has_orders() && self.obey(index) {
                return index;
            }
            let error = match self.step(index) {
                Pulled::Item(Demand::More) => {
                    index += 1;
                    continue;
                }
                Pulled::Item(Demand::Nothing) => return index,
                Pulled::End => None,
                Pulled::Fail(error) => Some(error),
            };
            self.end(index, error);
            return index;
        }
    }
}

/// The part of a direct line that a consumer is.
pub(crate) fn pass_of<'run, S: Send + 'run>(consumer: Consumer<'run, S>) -> Box<dyn Pass<S> + 'run> {
    consumer.into_pass().expect("each node of a direct line takes its items by a direct call")
}
