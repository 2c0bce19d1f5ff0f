//! Direct lines: the executor for a worker that is alone, in a stream in which each item only goes from the source to the sink.
//!
//! The nodes of other lines take each cell with a turn, and may count it. A line is direct if it has one domain and no
//! branches, and nobody measures the run. Then no lane carries a cell, so an index is just a number. An item goes from
//! one serial stage to the next by one call, as a value. The type of a parallel unit contains the stage behind it, so
//! the compiler makes one function of both.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, Stop};
use anabranch_record::sync::Arc;

use super::assembly::Assembly;
use super::blocks::Length;
use super::cell::{finish, note};
use super::clock::Moment;
use super::code::local_of;
use super::end::LineEnd;
use super::failure::{Cause, ErrorSlot};
use super::node::Drive;
use super::push::{Demand, Pass};
use super::site::Spot;
use super::taker::Taker;
use crate::flow::Halt;
use crate::progress::Reporter;
use crate::pull::{Pull, Pulled};
use crate::serial::Serial;
use crate::shape::Shape;
use crate::unit::{Apply, Taken, Unit};

/// The part of a direct line behind a parallel unit. It takes the results of one index one by one.
pub(crate) trait DirectTaker<T> {
    /// The results of one index until the index is complete.
    type Kept;
    /// Whether an index may have several results. If a call panics, the results before it go on, as in the
    /// loop.
    const KEEPS_MANY: bool;

    /// Begins an index, with about as many items as `expected`.
    fn begin(&self, expected: u64) -> Self::Kept;

    /// Takes one item of an index. If the stream stops here, notes the cause and breaks with the kind of
    /// stop.
    fn take(&mut self, index: u64, kept: &mut Self::Kept, item: T) -> ControlFlow<Stop>;

    /// Ends an index. With a `stop` the stream stops there.
    fn end(&mut self, index: u64, kept: Self::Kept, stop: Option<Stop>) -> Demand;
}

/// A parallel unit of a direct line, and the part of the line behind it.
pub(super) struct DirectUnit<U: Unit, E, N> {
    pub(super) spot: Spot<E>,
    pub(super) unit: U,
    /// The state of the unit, once an item has come.
    pub(super) local: Option<U::Local>,
    pub(super) next: N,
}

impl<U: Apply<E>, E, N: DirectTaker<U::Out>> DirectUnit<U, E, N> {
    /// Takes the first items, or the last.
    #[cold]
    #[inline(never)]
    fn take_rarely(&mut self, index: u64, slot: Taken<U>, stop: Option<Stop>) -> Demand {
        self.take(index, slot, stop)
    }

    /// Takes the items of one index through the unit. With a `stop` the stream stops behind them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take(&mut self, index: u64, slot: Taken<U>, stop: Option<Stop>) -> Demand {
        let Self { spot, unit, local, next } = self;
        let local = local_of(unit, local);
        let mut kept = next.begin(U::From::count::<U::In>(&slot));
        let take_all = || {
            U::From::each::<U::In, Stop>(slot, |item| {
                let mut stopped = None;
                let flow = unit.apply(local, item, &mut |item| match next.take(index, &mut kept, item) {
                    ControlFlow::Continue(()) => ControlFlow::Continue(()),
                    ControlFlow::Break(stop) => {
                        stopped = Some(stop);
                        ControlFlow::Break(Halt::Break)
                    }
                });
                match flow {
                    ControlFlow::Continue(()) => ControlFlow::Continue(()),
                    ControlFlow::Break(halt) => ControlFlow::Break(match stopped {
                        Some(stop) => stop,
                        None => note(spot, index, halt),
                    }),
                }
            })
        };
        let flow = if N::KEEPS_MANY {
            catch_unwind(AssertUnwindSafe(take_all)).unwrap_or_else(|payload| {
                spot.halt(index, Cause::Panic(payload));
                ControlFlow::Break(Stop::Fail)
            })
        } else {
            take_all()
        };
        match flow {
            ControlFlow::Continue(()) => next.end(index, kept, stop),
            // The loop would have met this stop before the one behind the items.
            ControlFlow::Break(earlier) => next.end(index, kept, Some(earlier)),
        }
    }
}

impl<U: Apply<E>, E, N: DirectTaker<U::Out>> Pass<Taken<U>> for DirectUnit<U, E, N> {
    #[inline]
    fn pass(&mut self, index: u64, slot: Taken<U>) -> Demand {
        // A function of its own, because a call in this one would cost each item some saved registers.
        if self.local.is_none() {
            return self.take_rarely(index, slot, None);
        }
        self.take(index, slot, None)
    }

    fn pass_cell(&mut self, index: u64, cell: Cell<Taken<U>>) -> Demand {
        let stop = match cell {
            Cell::Value(slot) => return self.pass(index, slot),
            Cell::Stop(Some(slot), stop) => return self.take_rarely(index, slot, Some(stop)),
            Cell::Empty => None,
            Cell::Stop(None, stop) => Some(stop),
        };
        let kept = self.next.begin(0);
        self.next.end(index, kept, stop)
    }
}

/// Passes the results of a unit on by a call.
pub(super) struct Onward<'run, S: Shape, T: Send>(pub(super) Box<dyn Pass<S::Slot<T>> + 'run>);

impl<S: Shape, T: Send> DirectTaker<T> for Onward<'_, S, T> {
    type Kept = S::Gather<T>;
    const KEEPS_MANY: bool = S::BATCHED;

    fn begin(&self, expected: u64) -> S::Gather<T> {
        S::gather(expected)
    }

    #[inline]
    fn take(&mut self, _: u64, kept: &mut S::Gather<T>, item: T) -> ControlFlow<Stop> {
        S::push(kept, item);
        ControlFlow::Continue(())
    }

    #[inline]
    fn end(&mut self, index: u64, kept: S::Gather<T>, stop: Option<Stop>) -> Demand {
        match (S::slot(kept), stop) {
            (Some(slot), None) => self.0.pass(index, slot),
            (None, None) => self.0.pass_cell(index, Cell::Empty),
            (slot, Some(stop)) => self.0.pass_cell(index, Cell::Stop(slot, stop)),
        }
    }
}

/// A serial stage of a direct line. It takes the items of one index one by one.
pub(super) struct DirectStage<'run, S: Shape, T, E, Op: Serial<T, E>> {
    pub(super) spot: Spot<E>,
    pub(super) op: Op,
    pub(super) next: Onward<'run, S, Op::Out>,
}

impl<S: Shape, T: Send, E, Op: Serial<T, E>> DirectTaker<T> for DirectStage<'_, S, T, E, Op> {
    type Kept = S::Gather<Op::Out>;
    const KEEPS_MANY: bool = S::BATCHED;

    #[inline]
    fn begin(&self, expected: u64) -> S::Gather<Op::Out> {
        self.next.begin(expected)
    }

    #[inline]
    fn take(&mut self, index: u64, kept: &mut S::Gather<Op::Out>, item: T) -> ControlFlow<Stop> {
        let flow = self.op.call(item, &mut |item| {
            S::push(kept, item);
            ControlFlow::Continue(())
        });
        match flow {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(halt) => ControlFlow::Break(note(&self.spot, index, halt)),
        }
    }

    #[inline]
    fn end(&mut self, index: u64, kept: S::Gather<Op::Out>, stop: Option<Stop>) -> Demand {
        match stop {
            Some(Stop::End) => {
                let cell = finish::<S, T, E, Op>(&self.spot, index, S::slot(kept), &mut self.op);
                self.next.0.pass_cell(index, cell)
            }
            stop => self.next.end(index, kept, stop),
        }
    }
}

/// The sink of a direct line.
pub(crate) struct DirectSink<'run, E, Op> {
    spot: Spot<E>,
    op: Op,
    end: LineEnd<'run>,
}

impl<'run, E, Op> DirectSink<'run, E, Op> {
    pub(crate) fn new(
        assembly: &mut Assembly<'run>,
        op: Op,
        errors: &Arc<ErrorSlot<E>>,
        reporter: Option<Reporter<'run>>,
    ) -> Self {
        let id = assembly.sink();
        Self { spot: assembly.spot(id, errors), op, end: assembly.line_end(id, reporter) }
    }

    #[cold]
    fn stop(&mut self, index: u64, has_come: bool) -> Demand {
        self.end.stop(index, has_come && self.spot.run.has_broken(), &self.spot);
        Demand::Nothing
    }
}

impl<T, E, Op: Serial<T, E, Out = Infallible>> DirectTaker<T> for DirectSink<'_, E, Op> {
    /// Whether an item of the index has come, and the sink needs more.
    type Kept = bool;
    const KEEPS_MANY: bool = false;

    #[inline]
    fn begin(&self, _: u64) -> bool {
        false
    }

    #[inline]
    fn take(&mut self, index: u64, has_come: &mut bool, item: T) -> ControlFlow<Stop> {
        match self.op.call(item, &mut |never| match never {}) {
            ControlFlow::Continue(()) => {
                *has_come = true;
                ControlFlow::Continue(())
            }
            ControlFlow::Break(halt) => {
                *has_come = false;
                ControlFlow::Break(note(&self.spot, index, halt))
            }
        }
    }

    #[inline]
    fn end(&mut self, index: u64, has_come: bool, stop: Option<Stop>) -> Demand {
        if stop.is_some() {
            return self.stop(index, has_come);
        }
        self.end.pass_direct(index)
    }
}

/// The source of a direct line.
pub(super) struct DirectSource<'run, P: Pull> {
    pub(super) spot: Spot<P::Error>,
    pub(super) pull: P,
    pub(super) next: Box<dyn Pass<P::Item> + 'run>,
    pub(super) length: Length,
}

impl<P: Pull> DirectSource<'_, P> {
    /// Does what somebody has ordered from outside. Returns whether the source is not to be asked again.
    #[cold]
    fn obey(&mut self, index: u64) -> bool {
        let run = &*self.spot.run;
        run.wait_while_paused();
        if run.is_done() {
            // A token has cancelled the run. Items that stages have kept are dropped with the stages.
            return true;
        }
        if run.is_stopping() {
            self.next.pass_cell(index, Cell::Stop(None, Stop::End));
            return true;
        }
        false
    }

    #[cold]
    fn end(&mut self, index: u64, error: Option<P::Error>) {
        let stop = match error {
            None => Stop::End,
            Some(error) => {
                self.spot.fail(index, error);
                Stop::Fail
            }
        };
        self.next.pass_cell(index, Cell::Stop(None, stop));
    }
}

impl<P: Pull> Drive for DirectSource<'_, P> {
    fn drive(&mut self) -> u64 {
        let mut index = 0;
        loop {
            if self.spot.run.has_orders() && self.obey(index) {
                return index;
            }
            let began = P::IN_BLOCKS.then(|| {
                self.pull.limit(self.length.next_direct());
                Moment::now()
            });
            let error = match self.pull.pull() {
                Pulled::Item(item) => {
                    if self.next.pass(index, item) == Demand::Nothing {
                        return index;
                    }
                    if let Some(began) = began {
                        self.length.took(began.elapsed());
                    }
                    index += 1;
                    continue;
                }
                Pulled::End => None,
                Pulled::Fail(error) => Some(error),
            };
            self.end(index, error);
            return index;
        }
    }
}

/// The part of a direct line that a taker is.
pub(super) fn pass_of<'run, S: Send + 'run>(taker: Taker<'run, S>) -> Box<dyn Pass<S> + 'run> {
    taker.into_pass().expect("each node of a direct line takes its items by a direct call")
}
