//! Stages, serial and parallel: how a stage takes a cell through its code, and how it becomes part of a line.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Batch, Cell, Stop, Turn};
use anabranch_record::sync::Arc;

use crate::engine::build::assembly::Assembly;
use crate::engine::build::consumer::Consumer;
use crate::engine::build::upstream::Upstream;
use crate::engine::nodes::op::{Flow, Halt, Serial};
use crate::engine::nodes::step::{Demand, Step};
use crate::engine::state::failure::{Cause, ErrorSlot};
use crate::engine::state::site::Spot;

/// Returns the mutable reference `$call`. A debug build converts it to a reference to a trait object of `$type`, so that what takes it
/// is compiled once for all stages that take and give the same types. A program with many pipelines then has a fifth less code to
/// compile.
macro_rules! by_pointer {
    ($call:expr, $($type:tt)+) => {{
        #[cfg(debug_assertions)]
        let call: &mut (dyn $($type)+ + '_) = $call;
        #[cfg(not(debug_assertions))]
        let call = $call;
        call
    }};
}
pub(super) use by_pointer;

/// A serial stage and everything before it.
pub(crate) struct StageUpstream<'env, T: Send, E, Op> {
    pub(crate) before: Box<dyn Upstream<T> + 'env>,
    pub(crate) errors: Arc<ErrorSlot<E>>,
    pub(crate) op: Op,
    pub(crate) id: usize,
}

impl<T: Send, E: Send, Op: Serial<T, E> + Send> Upstream<Op::Out> for StageUpstream<'_, T, E, Op> {
    fn connect<'run>(self: Box<Self>, assembly: &mut Assembly<'run>, consumer: Consumer<'run, Op::Out>)
    where
        Self: 'run,
    {
        let Self { before, errors, op, id } = *self;
        let spot = assembly.spot(id, &errors);
        let consumer = if assembly.is_direct() {
            Consumer::direct(assembly, id, Stage::new(spot, op, consumer.into_direct()))
        } else {
            let out = assembly.after_serial(id, consumer);
            Consumer::serial(id, Stage::new(spot, op, out))
        };
        before.connect(assembly, consumer);
    }
}

/// A stage, or a worker's side of one, and the way on behind it.
pub(super) struct Stage<T, E, Op, N> {
    spot: Spot<E>,
    /// How many more items the stage has given than it took, since the last call of [`Step::take_gain`].
    gain: i64,
    op: Op,
    next: N,
    takes: PhantomData<fn(T)>,
}

impl<T, E, Op, N> Stage<T, E, Op, N> {
    pub(super) fn new(spot: Spot<E>, op: Op, next: N) -> Self {
        Self { spot, gain: 0, op, next, takes: PhantomData }
    }
}

impl<T: Send, E, Op: Serial<T, E>, N: Step<Op::Out>> Step<T> for Stage<T, E, Op, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn item(&mut self, turn: &mut Turn, item: T) -> Demand {
        let Self { spot, gain, op, next, .. } = self;
        let op = by_pointer!(op, Serial<T, E, Out = Op::Out>);
        one(spot, gain, op, next, turn, item)
    }

    fn cell(&mut self, turn: &mut Turn, cell: Cell<T>) -> Demand {
        let Self { spot, gain, op, next, .. } = self;
        if matches!(cell, Cell::Empty) {
            return next.cell(turn, Cell::Empty);
        }
        let op = by_pointer!(op, Serial<T, E, Out = Op::Out>);
        let items = cell.len();
        let given = rarely(spot, turn.index(), cell, op);
        *gain += given.len() as i64 - items as i64;
        match given {
            Cell::Value(result) => next.item(turn, result),
            given => next.cell(turn, given),
        }
    }

    fn take_gain(&mut self) -> i64 {
        std::mem::take(&mut self.gain) + self.next.take_gain()
    }
}

/// Takes an item that is alone at its index through a stage, and passes the result on.
///
/// A panic of user code unwinds out of this function if the stage gives at most one result.
// The item and the result never become a `Cell` in memory here: to write a cell in parts and to read it as a whole costs 4 ns.
#[cfg_attr(not(debug_assertions), inline(always))]
fn one<T, U: Send, E>(
    spot: &Spot<E>,
    gain: &mut i64,
    op: &mut (impl Serial<T, E, Out = U> + ?Sized),
    next: &mut impl Step<U>,
    turn: &mut Turn,
    item: T,
) -> Demand {
    if op.gives_many() {
        let given = rarely(spot, turn.index(), Cell::Value(item), op);
        *gain += given.len() as i64 - 1;
        return next.cell(turn, given);
    }
    let mut given = None;
    let given = match op.one(item, &mut given) {
        ControlFlow::Continue(()) => match given {
            Some(result) => return next.item(turn, result),
            None => Cell::Empty,
        },
        ControlFlow::Break(halt) => stopped(spot, turn.index(), given, halt, &mut |given| op.finish(given)),
    };
    *gain += given.len() as i64 - 1;
    next.cell(turn, given)
}

/// Takes any cell through a stage. A panic of user code at one of several items becomes a stop, and the results before it go on: the
/// loop would have given them too.
#[inline(never)]
pub(super) fn rarely<T, U, E>(
    spot: &Spot<E>,
    index: u64,
    cell: Cell<T>,
    op: &mut (impl Serial<T, E, Out = U> + ?Sized),
) -> Cell<U> {
    let mut given = Vec::new();
    let stop = match cell {
        Cell::Empty => return Cell::Empty,
        Cell::Stop(stop) => Some(stop),
        Cell::Value(item) => {
            let mut item = Some(item);
            let mut call = || item.take().map_or(ControlFlow::Continue(()), |item| op.many(item, &mut given));
            guarded(spot, index, &mut call)
        }
        Cell::Batch(batch) => {
            let Batch { items, stop } = *batch;
            given.reserve(items.len());
            // The loop would have met a stop at an item before the one behind the items.
            let mut items = items.into_iter();
            guarded(spot, index, &mut || op.all(&mut items, &mut given)).or(stop)
        }
    };
    ended(spot, index, given, stop, &mut |given| op.finish(given))
}

/// Calls a stage. Returns the stop, if the stream stops there.
fn guarded<E>(spot: &Spot<E>, index: u64, call: &mut dyn FnMut() -> Flow<E>) -> Option<Stop> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(ControlFlow::Continue(())) => None,
        Ok(ControlFlow::Break(halt)) => Some(note(spot, index, halt)),
        Err(payload) => {
            spot.halt(index, Cause::Panic(payload));
            Some(Stop::Fail)
        }
    }
}

/// The cell of an item at which the stream stops.
#[cold]
#[inline(never)]
pub(super) fn stopped<U, E>(
    spot: &Spot<E>,
    index: u64,
    given: Option<U>,
    halt: Halt<E>,
    finish: &mut dyn FnMut(&mut Vec<U>) -> Flow<E>,
) -> Cell<U> {
    let stop = note(spot, index, halt);
    ended(spot, index, given.into_iter().collect(), Some(stop), finish)
}

/// The cell of what a stage has given, and of what it gives at the end of the stream if that has come. Compiled once for all stages
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
