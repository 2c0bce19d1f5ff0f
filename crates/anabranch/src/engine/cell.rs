//! Takes one cell through one node. Every executor uses this code.
//!
//! What a node does with an item is a closure. In a release build it is inlined in the loop over the cells. A debug build
//! calls it through a pointer ([`by_pointer`]), so that the loop is compiled once for all closures of the same types: a
//! program with many pipelines then has a fifth less code to compile.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, Stop};

use super::failure::Cause;
use super::site::Spot;
use crate::flow::{Flow, Halt};
use crate::serial::Serial;
use crate::shape::Shape;
use crate::unit::Apply;

/// A mutable reference to the closure `$call`: to a trait object of `$type` in a debug build, and to the closure itself in a
/// release build.
macro_rules! by_pointer {
    ($call:ident, $($type:tt)+) => {{
        #[cfg(debug_assertions)]
        let call: &mut dyn $($type)+ = &mut $call;
        #[cfg(not(debug_assertions))]
        let call = &mut $call;
        call
    }};
}
pub(super) use by_pointer;

/// What a node does with an item: it adds its results to the gather. It is not `FnMut` itself, because the compiler makes
/// two more functions for each trait object of that.
pub(super) trait OfItem<T, G, E> {
    fn call(&mut self, item: T, gather: &mut G) -> Flow<E>;
}

impl<T, G, E, F: FnMut(T, &mut G) -> Flow<E>> OfItem<T, G, E> for F {
    #[inline]
    fn call(&mut self, item: T, gather: &mut G) -> Flow<E> {
        self(item, gather)
    }
}

/// What a node does with the cell of an index: it returns the cell of the results.
pub(super) trait OfCell<A: Send, B: Send> {
    fn call(&mut self, index: u64, cell: Cell<A>) -> Cell<B>;
}

impl<A: Send, B: Send, F: FnMut(u64, Cell<A>) -> Cell<B>> OfCell<A, B> for F {
    #[inline]
    fn call(&mut self, index: u64, cell: Cell<A>) -> Cell<B> {
        self(index, cell)
    }
}

/// How many items a cell holds.
#[inline]
pub(crate) fn items_in<S: Shape, T: Send>(cell: &Cell<S::Slot<T>>) -> u64 {
    match cell {
        Cell::Value(slot) | Cell::Stop(Some(slot), _) => S::count::<T>(slot),
        Cell::Empty | Cell::Stop(None, _) => 0,
    }
}

/// Calls `call` with each item of a cell, and returns the cell of the results. `call` adds its results to the
/// gather.
///
/// A panic in `call` unwinds out of this function, unless the result is a batch. Then the panic becomes a
/// stop, and the items that were gathered before it go on: the loop would have given them too.
#[inline]
pub(crate) fn through<A, B, T, U, E>(
    spot: &Spot<E>,
    index: u64,
    cell: Cell<A::Slot<T>>,
    call: &mut (impl OfItem<T, B::Gather<U>, E> + ?Sized),
) -> Cell<B::Slot<U>>
where
    A: Shape,
    B: Shape,
    T: Send,
    U: Send,
{
    match cell {
        Cell::Value(slot) => value::<A, B, T, U, E>(spot, index, slot, call),
        Cell::Empty => Cell::Empty,
        Cell::Stop(None, stop) => Cell::Stop(None, stop),
        Cell::Stop(Some(slot), stop) => match value::<A, B, T, U, E>(spot, index, slot, call) {
            Cell::Value(slot) => Cell::Stop(Some(slot), stop),
            Cell::Empty => Cell::Stop(None, stop),
            // The loop would have met this failure before the one that made the stop.
            earlier => earlier,
        },
    }
}

/// Calls `call` with each item of a slot, and returns the cell of the results.
#[inline]
fn value<A, B, T, U, E>(
    spot: &Spot<E>,
    index: u64,
    slot: A::Slot<T>,
    call: &mut (impl OfItem<T, B::Gather<U>, E> + ?Sized),
) -> Cell<B::Slot<U>>
where
    A: Shape,
    B: Shape,
    T: Send,
    U: Send,
{
    let mut gather = B::gather::<U>(A::count::<T>(&slot));
    match each::<A, B, T, U, E>(spot, index, slot, &mut gather, call) {
        ControlFlow::Continue(()) => match B::slot(gather) {
            Some(slot) => Cell::Value(slot),
            None => Cell::Empty,
        },
        ControlFlow::Break(stop) => Cell::Stop(B::slot(gather), stop),
    }
}

/// Calls `call` with each item of a slot. If the stream stops here, notes the cause and breaks with the kind
/// of stop.
#[inline]
fn each<A, B, T, U, E>(
    spot: &Spot<E>,
    index: u64,
    slot: A::Slot<T>,
    gather: &mut B::Gather<U>,
    call: &mut (impl OfItem<T, B::Gather<U>, E> + ?Sized),
) -> ControlFlow<Stop>
where
    A: Shape,
    B: Shape,
    T: Send,
    U: Send,
{
    let result = if B::BATCHED {
        match catch_unwind(AssertUnwindSafe(|| A::each(slot, |item| call.call(item, gather)))) {
            Ok(result) => result,
            Err(payload) => {
                spot.halt(index, Cause::Panic(payload));
                return ControlFlow::Break(Stop::Fail);
            }
        }
    } else {
        A::each(slot, |item| call.call(item, gather))
    };
    match result {
        ControlFlow::Continue(()) => ControlFlow::Continue(()),
        ControlFlow::Break(halt) => ControlFlow::Break(note(spot, index, halt)),
    }
}

/// Notes why a stage stops the stream, and returns the kind of stop to put. For the stages behind a stage
/// that has had enough, the stream ends as if the source were exhausted.
#[cold]
pub(super) fn note<E>(spot: &Spot<E>, index: u64, halt: Halt<E>) -> Stop {
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

/// Takes a cell through a parallel unit, with a worker's state of the unit.
#[inline]
pub(crate) fn through_unit<U: Apply<E>, E>(
    spot: &Spot<E>,
    index: u64,
    cell: Cell<<U::From as Shape>::Slot<U::In>>,
    unit: &U,
    local: &mut U::Local,
) -> Cell<<U::To as Shape>::Slot<U::Out>> {
    let mut call = |item, gather: &mut <U::To as Shape>::Gather<U::Out>| {
        unit.apply(local, item, &mut |item| {
            U::To::push(gather, item);
            ControlFlow::Continue(())
        })
    };
    let call = by_pointer!(call, OfItem<U::In, <U::To as Shape>::Gather<U::Out>, E>);
    through::<U::From, U::To, U::In, U::Out, E>(spot, index, cell, call)
}

/// Takes a cell through a serial stage. At the end of the stream, also calls the stage's `finish`.
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
    let mut call = |item, gather: &mut S::Gather<Op::Out>| {
        op.call(item, &mut |item| {
            S::push(gather, item);
            ControlFlow::Continue(())
        })
    };
    let call = by_pointer!(call, OfItem<T, S::Gather<Op::Out>, E>);
    let cell = through::<S, S, T, Op::Out, E>(spot, index, cell, call);
    match cell {
        Cell::Stop(slot, Stop::End) => finish::<S, T, E, Op>(spot, index, slot, op),
        other => other,
    }
}

/// Calls a serial stage's `finish` at the end of the stream. `slot` has the items that the stage gave at this
/// index before.
#[cold]
pub(super) fn finish<S, T, E, Op>(
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
    let mut last = None;
    if let Some(slot) = slot {
        let _: ControlFlow<()> = S::each(slot, |item| {
            if let Some(before) = last.replace(item) {
                S::push(&mut gather, before);
            }
            ControlFlow::Continue(())
        });
    }
    let result = op.finish(&mut |item| {
        if let Some(before) = last.take() {
            if S::BATCHED {
                S::push(&mut gather, before);
            } else {
                // The stage gave something with the last item, too: an index has one place.
                last = Some(Op::join(before, item));
                return ControlFlow::Continue(());
            }
        }
        S::push(&mut gather, item);
        ControlFlow::Continue(())
    });
    if let Some(item) = last {
        S::push(&mut gather, item);
    }
    let stop = match result {
        ControlFlow::Continue(()) => Stop::End,
        ControlFlow::Break(halt) => note(spot, index, halt),
    };
    Cell::Stop(S::slot(gather), stop)
}
