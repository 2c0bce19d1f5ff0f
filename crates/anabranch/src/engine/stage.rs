//! Serial stages: how a stage processes a cell, and how it becomes part of a line.

use std::marker::PhantomData;

use anabranch_record::lane::{Cell, Turn};
use anabranch_record::sync::Arc;

use super::assembly::Assembly;
use super::cell::{Give, SerialItems, by_pointer, through};
use super::consumer::Consumer;
use super::counter::Counter;
use super::direct::{DirectStage, pass_of};
use super::failure::ErrorSlot;
use super::input::Input;
use super::measures::Tally;
use super::push::{self, Demand, Out, Push};
use super::quantum::{Quantum, Served};
use super::run::Run;
use super::site::Spot;
use super::upstream::Upstream;
use crate::engine::Serial;

/// A serial stage and everything before it.
pub(crate) struct StageUpstream<'env, T: Send, E, Op> {
    pub(crate) before: Box<dyn Upstream<T> + 'env>,
    pub(crate) errors: Arc<ErrorSlot<E>>,
    pub(crate) op: Op,
    pub(crate) id: usize,
}

impl<T: Send, E: Send, Op: Serial<T, E>> Upstream<Op::Out> for StageUpstream<'_, T, E, Op> {
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, Op::Out>)
    where
        Self: 'run,
    {
        let Self { before, errors, op, id } = *self;
        let (spot, op) = (assembly.spot(id, &errors), SerialItems(op));
        if assembly.is_direct() {
            let stage = DirectStage::new(spot, op, pass_of(consumer));
            let consumer = Consumer::pass(assembly, id, stage);
            return before.connect(assembly, consumer);
        }
        let (out, counter) = (assembly.after_serial(id, consumer), assembly.counter(id));
        let call = StageCall::<T, E, Op> { spot, counter, op, out, takes: PhantomData };
        before.connect(assembly, Consumer::push(id, call));
    }
}

/// A serial stage as a consumer of cells.
struct StageCall<'run, T, E, Op: Serial<T, E>> {
    spot: Spot<E>,
    counter: Counter,
    op: SerialItems<Op>,
    out: Out<'run, Op::Out>,
    takes: PhantomData<fn(T)>,
}

impl<T: Send, E: Send, Op: Serial<T, E>> Push<T> for StageCall<'_, T, E, Op> {
    // Inlined in the loop of `serve`: a call for each cell would pass the cell through memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, turn: &mut Turn, cell: Cell<T>) -> Demand {
        let Self { spot, counter, op, out, .. } = self;
        let (index, items) = (turn.index(), cell.len());
        let onward = Onward { items, turn, counter, out };
        through(spot, index, cell, by_pointer!(op, super::cell::ItemOp<T, Op::Out, E>), onward)
    }

    fn serve(&mut self, input: &mut Input<T>, quantum: &mut Quantum, run: &Run) -> Served {
        push::serve(self, input, quantum, run)
    }

    fn take_tally(&mut self) -> Tally {
        let own = self.counter.take();
        Tally { given: self.out.given().unwrap_or(own.given), ..own }
    }
}

/// Passes on what a serial stage gives for one cell.
struct Onward<'s, 'run, U: Send> {
    /// How many items the cell has.
    items: u64,
    turn: &'s mut Turn,
    counter: &'s mut Counter,
    out: &'s mut Out<'run, U>,
}

impl<U: Send> Onward<'_, '_, U> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn pass(self, cell: Cell<U>) -> Demand {
        self.counter.add(Tally { cells: 1, items: self.items, given: cell.len() });
        self.out.push(self.turn, cell)
    }
}

impl<U: Send> Give<U> for Onward<'_, '_, U> {
    type Then = Demand;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn value(self, result: U) -> Demand {
        self.pass(Cell::Value(result))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn nothing(self) -> Demand {
        self.pass(Cell::Empty)
    }

    #[inline(never)]
    fn rarely(self, cell: Cell<U>) -> Demand {
        self.pass(cell)
    }
}
