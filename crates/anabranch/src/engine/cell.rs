//! Takes one cell through one node. Every executor uses this code.
//!
//! Each kind of node has a type that processes one item ([`ItemOp`]). A release build inlines it in the loop over the
//! cells. A debug build calls it through a pointer ([`by_pointer`]), so the loop is compiled once for all nodes that
//! take and give the same types. A program with many pipelines then has a fifth less code to compile.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Batch, Cell, Stop};

use super::failure::Cause;
use super::site::Spot;
use crate::engine::{Flow, Halt, Parallel, Serial};

/// Returns the mutable reference `$call`. A debug build converts it to a reference to a trait object of `$type`.
macro_rules! by_pointer {
    ($call:expr, $($type:tt)+) => {{
        #[cfg(debug_assertions)]
        let call: &mut dyn $($type)+ = $call;
        #[cfg(not(debug_assertions))]
        let call = $call;
        call
    }};
}
pub(crate) use by_pointer;

/// Processes the items of a node, one at a time.
pub(crate) trait ItemOp<T, U, E> {
    /// Whether an item may have several results.
    fn gives_many(&self) -> bool {
        false
    }

    /// Processes an item that has at most one result.
    fn one(&mut self, item: T, given: &mut Option<U>) -> Flow<E>;

    /// Processes an item that may have any number of results.
    fn many(&mut self, item: T, given: &mut Vec<U>) -> Flow<E>;

    /// The stream has ended: gives what the node has kept.
    fn finish(&mut self, _given: &mut Vec<U>) -> Flow<E> {
        ControlFlow::Continue(())
    }
}

/// Processes items in a parallel stage, with a worker's state of the stage.
pub(crate) struct ParallelItems<'c, Op, L> {
    pub(crate) op: &'c Op,
    pub(crate) local: &'c mut L,
}

impl<T, E, Op: Parallel<T, E>> ItemOp<T, Op::Out, E> for ParallelItems<'_, Op, Op::Local> {
    #[inline]
    fn gives_many(&self) -> bool {
        Op::GIVES_MANY
    }

    #[inline]
    fn one(&mut self, item: T, given: &mut Option<Op::Out>) -> Flow<E> {
        self.op.call(self.local, item, &mut |result| *given = Some(result))
    }

    #[inline]
    fn many(&mut self, item: T, given: &mut Vec<Op::Out>) -> Flow<E> {
        self.op.call(self.local, item, &mut |result| given.push(result))
    }
}

/// Processes items in a serial stage.
pub(crate) struct SerialItems<Op>(pub(crate) Op);

impl<T, E, Op: Serial<T, E>> ItemOp<T, Op::Out, E> for SerialItems<Op> {
    #[inline]
    fn one(&mut self, item: T, given: &mut Option<Op::Out>) -> Flow<E> {
        self.0.call(item, &mut |result| *given = Some(result))
    }

    #[inline]
    fn many(&mut self, item: T, given: &mut Vec<Op::Out>) -> Flow<E> {
        self.0.call(item, &mut |result| given.push(result))
    }

    fn finish(&mut self, given: &mut Vec<Op::Out>) -> Flow<E> {
        self.0.finish(&mut |result| given.push(result))
    }
}

/// Takes the results of a node for one cell. All but [`rarely`](Self::rarely) are inlined in the loop over the cells.
pub(crate) trait Give<U>: Sized {
    type Then;

    /// There is one result.
    fn value(self, result: U) -> Self::Then;

    /// There is no result.
    fn nothing(self) -> Self::Then;

    /// There are several results, or a stop.
    fn rarely(self, cell: Cell<U>) -> Self::Then;
}

/// Takes a cell through a node, and gives the cell of the results on.
///
/// A panic of user code unwinds out of this function if the cell has one value and the node gives at most one. Otherwise the
/// panic becomes a stop, and the results before it go on: the loop would have given them too.
// A cell with one value never becomes a `Cell` in memory here: the functions for other cases get the parts of the cell, and a
// single result is given on apart from others. To write a cell in parts and to read it as a whole costs 4 ns.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn through<T, U, E, R>(
    spot: &Spot<E>,
    index: u64,
    cell: Cell<T>,
    op: &mut (impl ItemOp<T, U, E> + ?Sized),
    give: impl Give<U, Then = R>,
) -> R {
    let cell = match cell {
        Cell::Value(item) if !op.gives_many() => {
            let mut given = None;
            match op.one(item, &mut given) {
                ControlFlow::Continue(()) => match given {
                    Some(result) => return give.value(result),
                    None => return give.nothing(),
                },
                ControlFlow::Break(halt) => stopped(spot, index, given, halt, &mut |given| op.finish(given)),
            }
        }
        Cell::Value(item) => {
            let mut given = Vec::new();
            let stop = each(spot, index, std::iter::once(item), &mut given, op);
            ended(spot, index, given, stop, &mut |given| op.finish(given))
        }
        Cell::Empty => return give.nothing(),
        Cell::Stop(stop) => ended(spot, index, Vec::new(), Some(stop), &mut |given| op.finish(given)),
        Cell::Batch(batch) => several(spot, index, *batch, op),
    };
    give.rarely(cell)
}

/// The cell of an item at which the stream stops.
#[cold]
#[inline(never)]
pub(crate) fn stopped<U, E>(
    spot: &Spot<E>,
    index: u64,
    given: Option<U>,
    halt: Halt<E>,
    finish: &mut dyn FnMut(&mut Vec<U>) -> Flow<E>,
) -> Cell<U> {
    let stop = note(spot, index, halt);
    ended(spot, index, given.into_iter().collect(), Some(stop), finish)
}

/// Takes a batch through a node.
#[inline(never)]
fn several<T, U, E>(
    spot: &Spot<E>,
    index: u64,
    batch: Batch<T>,
    op: &mut (impl ItemOp<T, U, E> + ?Sized),
) -> Cell<U> {
    let Batch { items, stop } = batch;
    let mut given = Vec::with_capacity(items.len());
    let stopped = each(spot, index, items.into_iter(), &mut given, op);
    // The loop would have met a stop at an item before the one behind the items.
    ended(spot, index, given, stopped.or(stop), &mut |given| op.finish(given))
}

/// Calls the node with each item. Returns the stop, if the stream stops at one of them.
#[inline]
fn each<T, U, E>(
    spot: &Spot<E>,
    index: u64,
    mut items: impl Iterator<Item = T>,
    given: &mut Vec<U>,
    op: &mut (impl ItemOp<T, U, E> + ?Sized),
) -> Option<Stop> {
    match catch_unwind(AssertUnwindSafe(|| items.try_for_each(|item| op.many(item, given)))) {
        Ok(ControlFlow::Continue(())) => None,
        Ok(ControlFlow::Break(halt)) => Some(note(spot, index, halt)),
        Err(payload) => {
            spot.halt(index, Cause::Panic(payload));
            Some(Stop::Fail)
        }
    }
}

/// The cell of what a node has given, and of what it gives at the end of the stream if that has come. Compiled once for all nodes
/// that give the same type.
#[inline(never)]
fn ended<U, E>(
    spot: &Spot<E>,
    index: u64,
    mut given: Vec<U>,
    mut stop: Option<Stop>,
    finish: &mut dyn FnMut(&mut Vec<U>) -> Flow<E>,
) -> Cell<U> {
    if stop == Some(Stop::End)
        && let ControlFlow::Break(halt) = finish(&mut given)
    {
        stop = Some(note(spot, index, halt));
    }
    Cell::of(given, stop)
}

/// Notes why a stage stops the stream, and returns the kind of stop to put. For the stages behind a stage
/// that has had enough, the stream ends as if the source were exhausted.
#[cold]
fn note<E>(spot: &Spot<E>, index: u64, halt: Halt<E>) -> Stop {
    match halt {
        Halt::Break => {
            spot.halt(index, Cause::Break);
            Stop::End
        }
        Halt::Error(error) => {
            spot.fail(index, error);
            Stop::Fail
        }
    }
}
