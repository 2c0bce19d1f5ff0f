//! Serial stages: how a stage processes a cell, and how it becomes part of a line.

use std::marker::PhantomData;

use anabranch_record::lane::{Cell, Turn};

use super::assembly::Assembly;
use super::cell::{items_in, through_serial};
use super::counter::Counter;
use super::direct::{DirectStage, Onward, pass_of};
use super::input::Input;
use super::measures::Tally;
use super::parallel::Tail;
use super::push::{self, Demand, Out, Push};
use super::quantum::{Quantum, Served};
use super::run::Run;
use super::site::Spot;
use super::taker::Taker;
use super::upstream::Upstream;
use crate::serial::Serial;
use crate::shape::Shape;
use crate::unit::{Apply, Unit};

/// A serial stage and everything before it.
pub(crate) struct StageUpstream<'env, U: Unit, E, Op> {
    pub(crate) tail: Tail<'env, U, E>,
    pub(crate) op: Op,
    pub(crate) id: usize,
}

impl<U, E, Op> Upstream<<U::To as Shape>::Slot<Op::Out>> for StageUpstream<'_, U, E, Op>
where
    U: Apply<E> + Send,
    E: Send,
    Op: Serial<U::Out, E>,
{
    fn connect<'run>(
        self: Box<Self>,
        assembly: &mut Assembly<'run>,
        taker: Taker<'run, <U::To as Shape>::Slot<Op::Out>>,
    ) where
        Self: 'run,
    {
        let Self { tail, op, id } = *self;
        let spot = tail.base.spot(assembly, id);
        if assembly.is_direct() {
            let next = Onward(pass_of(taker));
            return tail.connect_direct(assembly, DirectStage::<U::To, U::Out, E, Op> { spot, op, next });
        }
        let (out, counter) = (assembly.after_serial(id, taker), assembly.counter(id));
        let call = StageCall::<U::To, U::Out, E, Op> { spot, counter, op, out, takes: PhantomData };
        tail.connect(assembly, Taker::push(id, call));
    }
}

/// A serial stage as a taker of cells.
struct StageCall<'run, S: Shape, T, E, Op: Serial<T, E>> {
    spot: Spot<E>,
    counter: Counter,
    op: Op,
    out: Out<'run, S::Slot<Op::Out>>,
    takes: PhantomData<fn(T)>,
}

impl<S, T, E, Op> Push<S::Slot<T>> for StageCall<'_, S, T, E, Op>
where
    S: Shape,
    T: Send,
    E: Send,
    Op: Serial<T, E>,
{
    // Inlined in the loop of `serve`: a call for each cell would pass the cell through memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, turn: &mut Turn, cell: Cell<S::Slot<T>>) -> Demand {
        let Self { spot, counter, op, out, .. } = self;
        let items = if counter.is_on() { items_in::<S, T>(&cell) } else { 0 };
        let cell = through_serial::<S, T, E, Op>(spot, turn.index(), cell, op);
        if counter.is_on() {
            counter.add(Tally { cells: 1, items, given: items_in::<S, Op::Out>(&cell) });
        }
        out.push(turn, cell)
    }

    fn serve(&mut self, input: &mut Input<S::Slot<T>>, quantum: &mut Quantum, run: &Run) -> Served {
        push::serve(self, input, quantum, run)
    }

    fn take_tally(&mut self) -> Tally {
        let own = self.counter.take();
        Tally { given: self.out.given().unwrap_or(own.given), ..own }
    }
}
