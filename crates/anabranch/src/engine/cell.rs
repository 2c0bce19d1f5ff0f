//! One cell through one node: the same code for every executor.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, Stop};

use super::failure::Cause;
use super::site::Spot;
use crate::flow::{Flow, Halt};
use crate::serial::Serial;
use crate::shape::Shape;

/// How many items a cell holds.
#[inline]
pub(crate) fn items_in<S: Shape, T: Send>(cell: &Cell<S::Slot<T>>) -> u64 {
    match cell {
        Cell::Value(slot) | Cell::Stop(Some(slot), _) => S::count::<T>(slot),
        Cell::Empty | Cell::Stop(None, _) => 0,
    }
}

/// Takes what a cell holds through `call`, which emits into what is gathered, and makes the cell of the result.
///
/// A panic in `call` unwinds out of here, unless the result is a batch: then what was gathered before it is
/// the part of the item that comes before the failure.
#[inline]
pub(crate) fn through<A, B, T, U, E>(
    spot: &Spot<E>,
    index: u64,
    cell: Cell<A::Slot<T>>,
    mut call: impl FnMut(T, &mut B::Gather<U>) -> Flow<E>,
) -> Cell<B::Slot<U>>
where
    A: Shape,
    B: Shape,
    T: Send,
    U: Send,
{
    match cell {
        Cell::Value(slot) => {
            let mut gather = B::gather::<U>(A::count::<T>(&slot));
            match each::<A, B, T, U, E>(spot, index, slot, &mut gather, &mut call) {
                ControlFlow::Continue(()) => match B::slot(gather) {
                    Some(slot) => Cell::Value(slot),
                    None => Cell::Empty,
                },
                ControlFlow::Break(stop) => Cell::Stop(B::slot(gather), stop),
            }
        }
        Cell::Empty => Cell::Empty,
        Cell::Stop(None, stop) => Cell::Stop(None, stop),
        Cell::Stop(Some(slot), stop) => {
            let mut gather = B::gather::<U>(A::count::<T>(&slot));
            let stop = match each::<A, B, T, U, E>(spot, index, slot, &mut gather, &mut call) {
                ControlFlow::Continue(()) => stop,
                // This failure comes before the one that stopped the stream further up.
                ControlFlow::Break(earlier) => earlier,
            };
            Cell::Stop(B::slot(gather), stop)
        }
    }
}

/// Calls `call` with each item of a slot. Breaks with the kind of stop to put, the cause being noted.
#[inline]
fn each<A, B, T, U, E>(
    spot: &Spot<E>,
    index: u64,
    slot: A::Slot<T>,
    gather: &mut B::Gather<U>,
    call: &mut impl FnMut(T, &mut B::Gather<U>) -> Flow<E>,
) -> ControlFlow<Stop>
where
    A: Shape,
    B: Shape,
    T: Send,
    U: Send,
{
    let result = if B::BATCHED {
        match catch_unwind(AssertUnwindSafe(|| A::each(slot, |item| call(item, gather)))) {
            Ok(result) => result,
            Err(payload) => {
                spot.halt(index, Cause::Panic(payload));
                return ControlFlow::Break(Stop::Fail);
            }
        }
    } else {
        A::each(slot, |item| call(item, gather))
    };
    match result {
        ControlFlow::Continue(()) => ControlFlow::Continue(()),
        ControlFlow::Break(halt) => ControlFlow::Break(note(spot, index, halt)),
    }
}

/// Notes why a stage halts, and says what kind of stop to put. Who has enough ends the stream in good order:
/// for the stages behind it that is the end.
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

/// Takes a cell through a serial stage, with its last word at the end of the stream.
#[inline]
pub(crate) fn through_serial<S, T, E, Op>(
    spot: &Spot<E>,
    index: u64,
    cell: Cell<S::Slot<T>>,
    op: &mut Op,
) -> Cell<S::Slot<Op::Out>>
where
    S: Shape,
    T: Send,
    Op: Serial<T, E>,
{
    let cell = through::<S, S, T, Op::Out, E>(spot, index, cell, |item, gather| {
        op.call(item, &mut |item| {
            S::push(gather, item);
            ControlFlow::Continue(())
        })
    });
    match cell {
        Cell::Stop(slot, Stop::End) => finish::<S, T, E, Op>(spot, index, slot, op),
        other => other,
    }
}

/// The end of the stream at a serial stage: `slot` is what the stage gave at this index already.
#[cold]
fn finish<S, T, E, Op>(
    spot: &Spot<E>,
    index: u64,
    slot: Option<S::Slot<Op::Out>>,
    op: &mut Op,
) -> Cell<S::Slot<Op::Out>>
where
    S: Shape,
    T: Send,
    Op: Serial<T, E>,
{
    let mut gather = S::gather::<Op::Out>(0);
    if let Some(slot) = slot {
        let _: ControlFlow<()> = S::each(slot, |item| {
            S::push(&mut gather, item);
            ControlFlow::Continue(())
        });
    }
    let result = op.finish(&mut |item| {
        S::push(&mut gather, item);
        ControlFlow::Continue(())
    });
    let stop = match result {
        ControlFlow::Continue(()) => Stop::End,
        ControlFlow::Break(halt) => note(spot, index, halt),
    };
    Cell::Stop(S::slot(gather), stop)
}
