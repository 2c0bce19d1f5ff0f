//! How cells pass from one node to the next, without the types of either node.
//!
//! [`Push::serve`] is one dynamic call for a whole serving, and the loop over the cells is inside it. There
//! is a dynamic call for each cell only where the plan joins two serial nodes by a call.

use anabranch_record::EventCount;
use anabranch_record::lane::{Cell, Turn, Writer};
use anabranch_record::sync::{Arc, Padded};

use super::input::Input;
use super::measures::Tally;
use super::quantum::{Quantum, Served};
use super::run::Run;

/// Whether the caller of [`Push::push`] is to push another cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// The next cell may come.
    More,
    /// The stream has stopped here.
    Nothing,
}

/// Takes the cells of one edge, in the order of their indices. The implementors are serial stages and the sink.
pub(crate) trait Push<S: Send>: Send {
    /// Takes the cell of one turn to the end of the unit.
    ///
    /// If user code panics, this function unwinds and leaves the turn open. The caller then pushes a stop for
    /// that turn.
    fn push(&mut self, turn: &mut Turn, cell: Cell<S>) -> Demand;

    /// Takes cells from `input` until none is ready, the quantum is used up, or the run is over.
    fn serve(&mut self, input: &mut Input<S>, quantum: &mut Quantum, run: &Run) -> Served;

    /// Returns the counts since the last call, and sets them to 0: the items that the first node of the unit
    /// took, and the items that the last node gave.
    fn take_tally(&mut self) -> Tally;
}

/// Takes the cells of one edge of a direct line, in the order of their indices, to the end of the line.
pub(crate) trait Pass<S: Send> {
    /// Takes the value of one index.
    fn pass(&mut self, index: u64, slot: S) -> Demand;

    /// Takes any cell of one index.
    fn pass_cell(&mut self, index: u64, cell: Cell<S>) -> Demand;
}

/// The loop of [`Push::serve`]. It is the same for every type.
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

/// A consumer on cache lines of its own.
impl<S: Send, P: Push<S>> Push<S> for Padded<P> {
    #[inline]
    fn push(&mut self, turn: &mut Turn, cell: Cell<S>) -> Demand {
        P::push(self, turn, cell)
    }

    fn serve(&mut self, input: &mut Input<S>, quantum: &mut Quantum, run: &Run) -> Served {
        P::serve(self, input, quantum, run)
    }

    fn take_tally(&mut self) -> Tally {
        P::take_tally(self)
    }
}

/// The output of a serial node.
pub(crate) enum Out<'run, S: Send> {
    /// Cells go into a lane. The threads that read the lane wait at the event.
    Lane(Writer<S>, Arc<EventCount>),
    /// Cells go to the next node of the unit by a call.
    Call(Box<dyn Push<S> + 'run>),
}

impl<S: Send> Out<'_, S> {
    /// Passes a cell to the next node, and wakes a thread that waits for it.
    // Without `always`, the compiler makes two calls of what should be one dynamic call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push(&mut self, turn: &mut Turn, cell: Cell<S>) -> Demand {
        match self {
            Out::Call(push) => push.push(turn, cell),
            Out::Lane(writer, event) => put_and_notify(writer, event, turn, cell),
        }
    }

    /// Passes a cell to the next node, and wakes no thread.
    #[inline]
    pub(crate) fn push_quietly(&mut self, turn: &mut Turn, cell: Cell<S>) -> Demand {
        match self {
            Out::Call(push) => push.push(turn, cell),
            Out::Lane(writer, _) => put(writer, turn, cell),
        }
    }

    /// How many items the last node of the unit gave since the last call. `None` if this node is the last
    /// one.
    pub(crate) fn given(&mut self) -> Option<u64> {
        match self {
            Out::Lane(..) => None,
            Out::Call(push) => Some(push.take_tally().given),
        }
    }
}

/// Stores a cell in a lane, and wakes a thread that waits for it.
#[cfg_attr(not(debug_assertions), inline(always))]
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
#[cfg_attr(not(debug_assertions), inline(always))]
fn put<S: Send>(writer: &mut Writer<S>, turn: &mut Turn, cell: Cell<S>) -> Demand {
    let stops = cell.stop().is_some();
    writer.put(turn, cell);
    if stops { Demand::Nothing } else { Demand::More }
}
