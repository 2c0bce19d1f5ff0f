//! Stages, serial and parallel: how a stage takes a cell through its code, and how it becomes part of a line.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Stop, Turn};
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

/// A stage keeps memory of up to this many bytes for the results of the next index that has several.
const KEPT_BYTES: usize = 64 << 10;

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
pub(super) struct Stage<T, E, Op: Serial<T, E>, N> {
    spot: Spot<E>,
    /// How many more items the stage has given than it took, since the last call of [`Step::take_gain`].
    gain: i64,
    op: Op,
    next: N,
    /// Empty, except while results of one index that are not a single item are passed on.
    given: Vec<Op::Out>,
    takes: PhantomData<fn(T)>,
}

impl<T, E, Op: Serial<T, E>, N> Stage<T, E, Op, N> {
    pub(super) fn new(spot: Spot<E>, op: Op, next: N) -> Self {
        Self { spot, gain: 0, op, next, given: Vec::new(), takes: PhantomData }
    }
}

impl<T: Send, E, Op: Serial<T, E>, N: Step<Op::Out>> Step<T> for Stage<T, E, Op, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn item(&mut self, turn: &mut Turn, item: T) -> Demand {
        let Self { spot, gain, op, next, given, .. } = self;
        let op = by_pointer!(op, Serial<T, E, Out = Op::Out>);
        one(spot, gain, op, next, turn, item, given)
    }

    fn items(&mut self, turn: &mut Turn, items: &mut Vec<T>, stop: Option<Stop>) -> Demand {
        let Self { spot, gain, op, next, given, .. } = self;
        if items.is_empty() && stop.is_none() {
            return next.items(turn, given, None);
        }
        let op = by_pointer!(op, Serial<T, E, Out = Op::Out>);
        *gain -= items.len() as i64;
        let stop = several(spot, turn.index(), items, stop, op, given);
        pass(gain, next, turn, given, stop)
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
    given: &mut Vec<U>,
) -> Demand {
    if op.gives_many() {
        *gain -= 1;
        let stop = many(spot, turn.index(), item, op, given);
        return pass(gain, next, turn, given, stop);
    }
    let mut result = None;
    match op.one(item, &mut result) {
        ControlFlow::Continue(()) => match result {
            Some(result) => next.item(turn, result),
            None => {
                *gain -= 1;
                next.items(turn, given, None)
            }
        },
        ControlFlow::Break(halt) => {
            *gain -= 1;
            given.extend(result);
            let stop = stopped(spot, turn.index(), halt, &mut |given| op.finish(given), given);
            pass(gain, next, turn, given, Some(stop))
        }
    }
}

/// Passes on what a stage has given for one index.
#[inline]
fn pass<U: Send>(
    gain: &mut i64,
    next: &mut impl Step<U>,
    turn: &mut Turn,
    given: &mut Vec<U>,
    stop: Option<Stop>,
) -> Demand {
    *gain += given.len() as i64;
    if given.capacity() * size_of::<U>() > KEPT_BYTES {
        return next.items(turn, &mut std::mem::take(given), stop);
    }
    if given.len() == 1
        && stop.is_none()
        && let Some(item) = given.pop()
    {
        return next.item(turn, item);
    }
    next.items(turn, given, stop)
}

/// Takes an item through a stage that may give several results. A panic of user code becomes a stop, and the results before it go on:
/// the loop would have given them too.
#[inline(never)]
fn many<T, U, E>(
    spot: &Spot<E>,
    index: u64,
    item: T,
    op: &mut (impl Serial<T, E, Out = U> + ?Sized),
    given: &mut Vec<U>,
) -> Option<Stop> {
    let mut item = Some(item);
    guarded(spot, index, &mut || item.take().map_or(ControlFlow::Continue(()), |item| op.many(item, given)))
        .map(|stop| ended(spot, index, stop, &mut |given| op.finish(given), given))
}

/// Takes the items of one index through a stage, and the stop behind them. A panic of user code at one of the items becomes a stop, and
/// the results before it go on.
#[inline(never)]
pub(super) fn several<T, U, E>(
    spot: &Spot<E>,
    index: u64,
    items: &mut Vec<T>,
    stop: Option<Stop>,
    op: &mut (impl Serial<T, E, Out = U> + ?Sized),
    given: &mut Vec<U>,
) -> Option<Stop> {
    let mut met = None;
    if !items.is_empty() {
        given.reserve(items.len());
        let mut items = items.drain(..);
        met = guarded(spot, index, &mut || op.all(&mut items, given));
    }
    // The loop would have met a stop at an item before the one behind the items.
    met.or(stop).map(|stop| ended(spot, index, stop, &mut |given| op.finish(given), given))
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

/// Notes why the stream stops at an item.
#[cold]
#[inline(never)]
pub(super) fn stopped<U, E>(
    spot: &Spot<E>,
    index: u64,
    halt: Halt<E>,
    finish: &mut dyn FnMut(&mut Vec<U>) -> Flow<E>,
    given: &mut Vec<U>,
) -> Stop {
    let stop = note(spot, index, halt);
    ended(spot, index, stop, finish, given)
}

/// Adds what a stage gives at the end of the stream to `given`, if `stop` is that end. Returns the stop, which is another one if this
/// fails. Compiled once for all stages that give the same type.
#[cold]
#[inline(never)]
fn ended<U, E>(
    spot: &Spot<E>,
    index: u64,
    stop: Stop,
    finish: &mut dyn FnMut(&mut Vec<U>) -> Flow<E>,
    given: &mut Vec<U>,
) -> Stop {
    if stop == Stop::End
        && let ControlFlow::Break(halt) = finish(given)
    {
        return note(spot, index, halt);
    }
    stop
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
        Halt::Error(error) => spot.fail(index, error),
    }
}
