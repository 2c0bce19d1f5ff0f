//! Serial stages: how a stage processes a cell, and how it becomes part of a line.

use std::marker::PhantomData;

use anabranch_record::lane::{Cell, Turn};
use anabranch_record::sync::Arc;

use super::assembly::Assembly;
use super::cell::{ItemOp, SerialItems, by_pointer, through};
use super::counter::Counter;
use super::direct::{DirectStage, pass_of};
use super::failure::ErrorSlot;
use super::input::Input;
use super::measures::Tally;
use super::push::{self, Demand, Out, Push};
use super::quantum::{Quantum, Served};
use super::run::Run;
use super::site::Spot;
use super::taker::Taker;
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
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, taker: Taker<'run, Op::Out>)
    where
        Self: 'run,
    {
        let Self { before, errors, op, id } = *self;
        let (spot, op) = (assembly.spot(id, &errors), SerialItems(op));
        if assembly.is_direct() {
            return before.connect(assembly, Taker::pass(id, DirectStage::new(spot, op, pass_of(taker))));
        }
        let (out, counter) = (assembly.after_serial(id, taker), assembly.counter(id));
        let call = StageCall::<T, E, Op> { spot, counter, op, out, takes: PhantomData };
        before.connect(assembly, Taker::push(id, call));
    }
}

/// A serial stage as a taker of cells.
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
        let items = if counter.is_on() { cell.len() } else { 0 };
        let cell = through(spot, turn.index(), cell, by_pointer!(op, ItemOp<T, Op::Out, E>));
        if counter.is_on() {
            counter.add(Tally { cells: 1, items, given: cell.len() });
        }
        out.push(turn, cell)
    }

    fn serve(&mut self, input: &mut Input<T>, quantum: &mut Quantum, run: &Run) -> Served {
        push::serve(self, input, quantum, run)
    }

    fn take_tally(&mut self) -> Tally {
        let own = self.counter.take();
        Tally { given: self.out.given().unwrap_or(own.given), ..own }
    }
}
