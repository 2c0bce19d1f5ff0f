//! How cells pass from one node to the next: the types at both ends of an edge, erased.
//!
//! Types are erased once a serving, never once an item: [`Push::serve`] is one call through a table, and the loop over
//! the cells is inside it. Only where the plan joins two serial nodes by a plain call is there a call for each cell.

use anabranch_record::EventCount;
use anabranch_record::lane::{Cell, Turn, Writer};
use anabranch_record::sync::Arc;

use super::input::Input;
use super::measures::Tally;
use super::quantum::{Quantum, Served};
use super::run::Run;

/// Whether whoever pushes shall go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// The next cell may come.
    More,
    /// The stream has stopped here.
    Nothing,
}

/// A taker of the cells of one edge, in the order of the indices: a serial stage, the sink, or a whole line of the inline
/// executor.
pub(crate) trait Push<S: Send>: Send {
    /// Takes the cell of one turn to the end of the unit.
    ///
    /// A panic of user code unwinds out of here with the turn open. The caller then pushes a stop for it.
    fn push(&mut self, turn: &mut Turn, cell: Cell<S>) -> Demand;

    /// Takes what `input` has, until the quantum is used up or the run is over.
    fn serve(&mut self, input: &mut Input<S>, quantum: &mut Quantum, run: &Run) -> Served;

    /// Takes the counts since the last call, if there are any: the items that the first node of the unit took, and the items
    /// that the last one gave.
    fn take_tally(&mut self) -> Tally;
}

/// The loop of [`Push::serve`], the same for each type.
#[inline]
pub(crate) fn serve<S: Send, P: Push<S> + ?Sized>(
    push: &mut P,
    input: &mut Input<S>,
    quantum: &mut Quantum,
    run: &Run,
) -> Served {
    while !run.is_ending() {
        let Some((turn, cell)) = input.take() else { return Served::Drained };
        if push.push(turn, cell) == Demand::Nothing {
            return Served::Closed;
        }
        if quantum.count() {
            break;
        }
    }
    Served::Quantum
}

/// Where a serial node puts what it gives.
pub(crate) enum Out<'run, S: Send> {
    /// Into a lane. Whoever takes from it waits at the event.
    Lane(Writer<S>, Arc<EventCount>),
    /// Into the next node of the unit, by a plain call.
    Call(Box<dyn Push<S> + 'run>),
}

impl<S: Send> Out<'_, S> {
    /// Gives a cell on, and wakes a thread that waits for it.
    // Without `always`, what should be one call through a table becomes two.
    #[inline(always)]
    pub(crate) fn push(&mut self, turn: &mut Turn, cell: Cell<S>) -> Demand {
        match self {
            Out::Call(push) => push.push(turn, cell),
            Out::Lane(writer, event) => put_and_notify(writer, event, turn, cell),
        }
    }

    /// Gives a cell on and wakes nobody.
    #[inline]
    pub(crate) fn push_quietly(&mut self, turn: &mut Turn, cell: Cell<S>) -> Demand {
        match self {
            Out::Call(push) => push.push(turn, cell),
            Out::Lane(writer, _) => put(writer, turn, cell),
        }
    }

    /// The number of items that the last node of the unit gave since the last call, if there is a node behind this one.
    pub(crate) fn given(&mut self) -> Option<u64> {
        match self {
            Out::Lane(..) => None,
            Out::Call(push) => Some(push.take_tally().given),
        }
    }
}

/// Stores a cell in a lane, and wakes a thread that waits for it.
fn put_and_notify<S: Send>(
    writer: &mut Writer<S>,
    event: &EventCount,
    turn: &mut Turn,
    cell: Cell<S>,
) -> Demand {
    let demand = put(writer, turn, cell);
    event.notify();
    demand
}

/// Stores a cell in a lane.
#[inline]
fn put<S: Send>(writer: &mut Writer<S>, turn: &mut Turn, cell: Cell<S>) -> Demand {
    let stops = matches!(cell, Cell::Stop(..));
    writer.put(turn, cell);
    if stops { Demand::Nothing } else { Demand::More }
}

/// A lane stores cells as they are: what stands for a taker that reads the lane itself.
impl<S: Send> Push<S> for Out<'_, S> {
    fn push(&mut self, turn: &mut Turn, cell: Cell<S>) -> Demand {
        Out::push(self, turn, cell)
    }

    fn serve(&mut self, input: &mut Input<S>, quantum: &mut Quantum, run: &Run) -> Served {
        serve(self, input, quantum, run)
    }

    fn take_tally(&mut self) -> Tally {
        Tally::default()
    }
}
