//! The sink of a line. It takes results in order, and gives their indices back (rule 6).

use std::convert::Infallible;
use std::marker::PhantomData;

use anabranch_record::lane::{Cell, Turn};
use anabranch_record::sync::Arc;

use super::assembly::Assembly;
use super::cell::{Give, SerialItems, by_pointer, through};
use super::consumer::Consumer;
use super::counter::Counter;
use super::direct::DirectSink;
use super::end::LineEnd;
use super::failure::ErrorSlot;
use super::input::Input;
use super::measures::Tally;
use super::push::{self, Demand, Push};
use super::quantum::{Quantum, Served};
use super::run::Run;
use super::site::{Site, Spot};
use crate::engine::Serial;
use crate::engine::progress::Reporter;

/// Creates the sink of a line, as the consumer of the last node before it.
pub(crate) fn sink<'run, T, E, Op>(
    assembly: &mut Assembly<'run>,
    op: Op,
    errors: &Arc<ErrorSlot<E>>,
    reporter: Option<Reporter<'run>>,
) -> Consumer<'run, T>
where
    T: Send + 'run,
    E: Send + 'run,
    Op: Serial<T, E, Out = Infallible> + 'run,
{
    let id = assembly.sink();
    if assembly.is_direct() {
        let sink = DirectSink::new(assembly, op, errors, reporter);
        return Consumer::pass(assembly, id, sink);
    }
    let (spot, counter) = (assembly.spot(id, errors), assembly.counter(id));
    let end = assembly.line_end(id, reporter);
    Consumer::push(id, SinkCall { spot, counter, op: SerialItems(op), end, takes: PhantomData })
}

/// The sink as a consumer of cells.
struct SinkCall<'run, T, E, Op> {
    spot: Spot<E>,
    counter: Counter,
    op: SerialItems<Op>,
    end: LineEnd<'run>,
    takes: PhantomData<fn(T)>,
}

impl<T, E, Op> Push<T> for SinkCall<'_, T, E, Op>
where
    T: Send,
    E: Send,
    Op: Serial<T, E, Out = Infallible>,
{
    // Inlined in the loop of `serve`: a call for each cell would pass the cell through memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn push(&mut self, turn: &mut Turn, cell: Cell<T>) -> Demand {
        let Self { spot, counter, op, end, .. } = self;
        let (index, items, is_item) = (turn.index(), cell.len(), spot.run.is_item(&cell));
        counter.add(Tally { cells: 1, items, given: 0 });
        let taken = Taken { is_item, turn, end, site: &spot.site };
        through(spot, index, cell, by_pointer!(op, super::cell::ItemOp<T, Infallible, E>), taken)
    }

    fn serve(&mut self, input: &mut Input<T>, quantum: &mut Quantum, run: &Run) -> Served {
        push::serve(self, input, quantum, run)
    }

    fn take_tally(&mut self) -> Tally {
        self.counter.take()
    }
}

/// Ends a cell that the sink has taken.
struct Taken<'s, 'run> {
    /// Whether the cell counts as an item, although it has a stop.
    is_item: bool,
    turn: &'s mut Turn,
    end: &'s mut LineEnd<'run>,
    site: &'s Site,
}

impl Give<Infallible> for Taken<'_, '_> {
    type Then = Demand;

    fn value(self, result: Infallible) -> Demand {
        match result {}
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn nothing(self) -> Demand {
        self.end.pass(self.turn);
        Demand::More
    }

    #[inline(never)]
    fn rarely(self, cell: Cell<Infallible>) -> Demand {
        if cell.stop().is_none() {
            return self.nothing();
        }
        self.end.stop(self.turn.index(), self.is_item, self.site);
        Demand::Nothing
    }
}
