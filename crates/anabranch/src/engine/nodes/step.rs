//! How cells go from one node to the next, without the types of either node.
//!
//! A [`Step`] is the code of a node and of all nodes behind it that the plan joins by calls. A serial node is a baton around a step, a
//! worker has a step of its own for each parallel unit, and the plain loop is one step behind the source.
//!
//! [`Step::serve`] is one dynamic call for all cells of a serving or of a claim, and the loop over the cells is inside it. There is a
//! dynamic call for each cell only where one step calls the next.

use anabranch_record::EventCount;
use anabranch_record::lane::{Cell, Putter, Stop, Turn, Writer};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, Padded};

use super::input::Feed;
use super::quantum::{Quantum, Served};
use crate::engine::state::failure::{Cause, Payload, caught, discard};
use crate::engine::state::run::Run;
use crate::engine::state::site::Site;

// This mutant takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_STOP_AFTER_PANIC: Mutant = Mutant("no_stop_after_panic");

/// Whether the caller of a [`Step`] is to pass another cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// The next cell may come.
    More,
    /// The stream has stopped here.
    Nothing,
}

impl Demand {
    /// Whether another cell may follow a cell with this stop.
    fn after(stop: Option<Stop>) -> Self {
        if stop.is_some() { Demand::Nothing } else { Demand::More }
    }
}

/// Takes the cells of one edge, in the order of their indices, to the end of the unit.
///
/// If user code panics, the functions unwind and leave the turn open. The caller then passes a stop for that index, see
/// [`stop_at_panic`].
pub(crate) trait Step<A: Send> {
    /// Takes an item that is alone at its index.
    fn item(&mut self, turn: &mut Turn, item: A) -> Demand;

    /// Takes any number of items at one index, and the stop behind them if there is one. Empties `items`, whose memory stays with the
    /// caller for the next index. Only a lane keeps it.
    fn items(&mut self, turn: &mut Turn, items: &mut Vec<A>, stop: Option<Stop>) -> Demand;

    /// Takes the content of a slot.
    #[inline]
    fn cell(&mut self, turn: &mut Turn, cell: Cell<A>) -> Demand {
        match cell {
            Cell::Value(item) => self.item(turn, item),
            Cell::Empty => self.items(turn, &mut Vec::new(), None),
            Cell::Stop(stop) => self.items(turn, &mut Vec::new(), Some(stop)),
            Cell::Batch(mut batch) => self.items(turn, &mut batch.items, batch.stop),
        }
    }

    /// Takes cells from `feed` until none is ready, the quantum is used up, or the run is over.
    fn serve(&mut self, feed: &mut Feed<'_, A>, quantum: &mut Quantum, run: &Run) -> Served {
        while !run.is_ending() {
            let demand = match feed.take() {
                Some((turn, Cell::Value(item))) => self.item(turn, item),
                Some((turn, cell)) => {
                    quantum.count_items(cell.len());
                    self.cell(turn, cell)
                }
                None => return Served::Drained,
            };
            if demand == Demand::Nothing {
                return Served::Closed;
            }
            if quantum.count() {
                break;
            }
        }
        Served::Quantum
    }

    /// How many more items the last node of the unit gave than the first one took, since the last call.
    fn take_gain(&mut self) -> i64;
}

/// Makes a worker's step: the code of the stages of a parallel unit, with the worker's states.
pub(crate) type Kernel<'run, A> = Box<dyn Fn() -> Box<dyn Step<A> + 'run> + Send + Sync + 'run>;

/// Takes the item that was dealt to a branch of a direct line through the branch, or nothing, with a stop behind it if there is one.
/// Returns [`Demand::Nothing`] if the branch fails.
pub(crate) type BranchCall<'run> = Box<dyn FnMut(&mut Turn, Option<Stop>) -> Demand + 'run>;

/// Notes a panic of user code at the index of `turn`, and passes a stop for that index to `pass`, which runs no user code then.
#[cold]
pub(crate) fn stop_at_panic<A>(
    site: &Site,
    payload: Payload,
    turn: &mut Turn,
    mut pass: impl FnMut(&mut Turn, Cell<A>) -> Demand,
) {
    site.halt(turn.index(), Cause::Panic(payload));
    if turn.is_open() && !NO_STOP_AFTER_PANIC.is_on() {
        discard(caught(&mut || _ = pass(turn, Cell::Stop(Stop::Fail))));
    }
}

/// A step on cache lines of its own.
impl<A: Send, S: Step<A>> Step<A> for Padded<S> {
    #[inline]
    fn item(&mut self, turn: &mut Turn, item: A) -> Demand {
        S::item(self, turn, item)
    }

    #[inline]
    fn items(&mut self, turn: &mut Turn, items: &mut Vec<A>, stop: Option<Stop>) -> Demand {
        S::items(self, turn, items, stop)
    }

    fn serve(&mut self, feed: &mut Feed<'_, A>, quantum: &mut Quantum, run: &Run) -> Served {
        S::serve(self, feed, quantum, run)
    }

    fn take_gain(&mut self) -> i64 {
        S::take_gain(self)
    }
}

/// The next step of a worker's step or of the plain loop, by a call.
impl<A: Send> Step<A> for Box<dyn Step<A> + '_> {
    #[inline]
    fn item(&mut self, turn: &mut Turn, item: A) -> Demand {
        (**self).item(turn, item)
    }

    #[inline]
    fn items(&mut self, turn: &mut Turn, items: &mut Vec<A>, stop: Option<Stop>) -> Demand {
        (**self).items(turn, items, stop)
    }

    fn serve(&mut self, feed: &mut Feed<'_, A>, quantum: &mut Quantum, run: &Run) -> Served {
        (**self).serve(feed, quantum, run)
    }

    fn take_gain(&mut self) -> i64 {
        (**self).take_gain()
    }
}

/// The way on from the last stage of a parallel unit: the lane behind the unit.
impl<A: Send> Step<A> for Arc<Putter<A>> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn item(&mut self, turn: &mut Turn, item: A) -> Demand {
        self.put(turn, Cell::Value(item));
        Demand::More
    }

    fn items(&mut self, turn: &mut Turn, items: &mut Vec<A>, stop: Option<Stop>) -> Demand {
        self.put(turn, Cell::of(std::mem::take(items), stop));
        Demand::after(stop)
    }

    fn take_gain(&mut self) -> i64 {
        0
    }
}

/// The way on from a serial node.
pub(crate) enum Out<'run, A: Send> {
    /// Cells go into a lane. The threads that read the lane wait at the event.
    Lane(Writer<A>, Arc<EventCount>),
    /// Cells go to the next node of the unit by a call.
    Call(Box<dyn Step<A> + Send + 'run>),
}

impl<A: Send> Out<'_, A> {
    /// Passes an item that is alone at its index. Wakes a thread that waits for it, if `wakes`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn item_if(&mut self, wakes: bool, turn: &mut Turn, item: A) -> Demand {
        match self {
            Out::Call(step) => return step.item(turn, item),
            Out::Lane(writer, event) => {
                writer.put(turn, Cell::Value(item));
                if wakes {
                    event.notify();
                }
            }
        }
        Demand::More
    }
}

impl<A: Send> Step<A> for Out<'_, A> {
    // Without `always`, the compiler makes two calls of what should be one dynamic call.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn item(&mut self, turn: &mut Turn, item: A) -> Demand {
        self.item_if(true, turn, item)
    }

    fn items(&mut self, turn: &mut Turn, items: &mut Vec<A>, stop: Option<Stop>) -> Demand {
        match self {
            Out::Call(step) => step.items(turn, items, stop),
            Out::Lane(writer, event) => {
                writer.put(turn, Cell::of(std::mem::take(items), stop));
                event.notify();
                Demand::after(stop)
            }
        }
    }

    fn take_gain(&mut self) -> i64 {
        match self {
            Out::Lane(..) => 0,
            Out::Call(step) => step.take_gain(),
        }
    }
}
