//! Takes one cell through one node. Every executor uses this code.
//!
//! Each kind of node has a type that processes one item ([`OfItem`]). A release build inlines it in the loop over the
//! cells. A debug build calls it through a pointer ([`by_pointer`]), so the loop is compiled once for all nodes that
//! take and give the same types. A program with many pipelines then has a fifth less code to compile.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, Stop};

use super::failure::Cause;
use super::site::Spot;
use crate::flow::{Flow, Halt};
use crate::serial::Serial;
use crate::shape::Shape;
use crate::unit::{Apply, Unit};

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
pub(super) use by_pointer;

/// Processes one item in a node, and adds the results to `gather`. This trait takes the place of `FnMut`, because the
/// compiler generates up to three more functions for a closure and its trait object.
pub(super) trait OfItem<T, G, E> {
    fn call(&mut self, item: T, gather: &mut G) -> Flow<E>;
}

/// Processes the cell of one index in a node, and returns the cell of the results.
pub(super) trait OfCell<A: Send, B: Send> {
    fn call(&mut self, index: u64, cell: Cell<A>) -> Cell<B>;
}

/// Processes items in a parallel unit, with a worker's state of the unit.
struct UnitItems<'c, U: Unit> {
    unit: &'c U,
    local: &'c mut U::Local,
}

impl<U: Apply<E>, E> OfItem<U::In, <U::To as Shape>::Gather<U::Out>, E> for UnitItems<'_, U> {
    #[inline]
    fn call(&mut self, item: U::In, gather: &mut <U::To as Shape>::Gather<U::Out>) -> Flow<E> {
        self.unit.apply(self.local, item, &mut |item| {
            U::To::push(gather, item);
            ControlFlow::Continue(())
        })
    }
}

/// Processes items in a serial stage.
pub(super) struct StageItems<'c, S, Op> {
    pub(super) op: &'c mut Op,
    pub(super) shape: PhantomData<S>,
}

impl<S: Shape, T, E, Op: Serial<T, E>> OfItem<T, S::Gather<Op::Out>, E> for StageItems<'_, S, Op> {
    #[inline]
    fn call(&mut self, item: T, gather: &mut S::Gather<Op::Out>) -> Flow<E> {
        self.op.call(item, &mut |item| {
            S::push(gather, item);
            ControlFlow::Continue(())
        })
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
    let mut items = UnitItems { unit, local };
    let call = by_pointer!(&mut items, OfItem<U::In, <U::To as Shape>::Gather<U::Out>, E>);
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
    let mut items = StageItems::<S, Op> { op, shape: PhantomData };
    let call = by_pointer!(&mut items, OfItem<T, S::Gather<Op::Out>, E>);
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
                // The stage has already given a result at this index, and an index holds one value. So the two are
                // joined.
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
