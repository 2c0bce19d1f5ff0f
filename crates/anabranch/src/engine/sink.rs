//! The sink of a line. It takes results in order, and gives their indices back (rule 6).

use std::convert::Infallible;
use std::marker::PhantomData;

use anabranch_record::lane::{Cell, Turn};
use anabranch_record::sync::Arc;

use super::assembly::Assembly;
use super::cell::{StageItems, by_pointer, items_in, through};
use super::counter::Counter;
use super::end::LineEnd;
use super::failure::ErrorSlot;
use super::input::Input;
use super::measures::Tally;
use super::push::{self, Demand, Push};
use super::quantum::{Quantum, Served};
use super::run::Run;
use super::site::Spot;
use super::taker::Taker;
use crate::progress::Reporter;
use crate::serial::Serial;
use crate::shape::{Shape, Single};

/// The sink as a taker of cells.
pub(crate) struct SinkCall<'run, S: Shape, T, E, Op> {
    spot: Spot<E>,
    counter: Counter,
    op: Op,
    end: LineEnd<'run>,
    takes: PhantomData<fn(T) -> S>,
}

impl<'run, S, T, E, Op> SinkCall<'run, S, T, E, Op>
where
    S: Shape,
    T: Send + 'run,
    E: Send + 'run,
    Op: Serial<T, E, Out = Infallible> + 'run,
{
    /// Creates the sink, as the taker of the last node before it.
    pub(crate) fn taker(
        assembly: &mut Assembly<'run>,
        op: Op,
        errors: &Arc<ErrorSlot<E>>,
        reporter: Option<Reporter<'run>>,
    ) -> Taker<'run, S::Slot<T>> {
        let id = assembly.sink();
        let spot = assembly.spot(id, errors);
        let end = assembly.line_end(id, reporter);
        let counter = assembly.counter(id);
        Taker::push(id, Self { spot, counter, op, end, takes: PhantomData })
    }
}

impl<S, T, E, Op> Push<S::Slot<T>> for SinkCall<'_, S, T, E, Op>
where
    S: Shape,
    T: Send,
    E: Send,
    Op: Serial<T, E, Out = Infallible>,
{
    // Inlined in the loop of `serve`: a call for each cell would pass the cell through memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, turn: &mut Turn, cell: Cell<S::Slot<T>>) -> Demand {
        let Self { spot, counter, op, end, .. } = self;
        let items = if counter.is_on() { items_in::<S, T>(&cell) } else { 0 };
        let is_item = spot.run.is_item(&cell);
        let mut call = StageItems::<Single, Op> { op, shape: PhantomData };
        let call = by_pointer!(&mut call, super::cell::OfItem<T, Option<Infallible>, E>);
        let done = through::<S, Single, T, Infallible, E>(spot, turn.index(), cell, call);
        counter.add(Tally { cells: 1, items, given: 0 });
        if matches!(done, Cell::Stop(..)) {
            end.stop(turn.index(), is_item, spot);
            return Demand::Nothing;
        }
        end.pass(turn);
        Demand::More
    }

    fn serve(&mut self, input: &mut Input<S::Slot<T>>, quantum: &mut Quantum, run: &Run) -> Served {
        push::serve(self, input, quantum, run)
    }

    fn take_tally(&mut self) -> Tally {
        self.counter.take()
    }
}
