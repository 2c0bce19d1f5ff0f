//! The inline executor: everything on the caller's thread, each item from the source to the sink before the
//! next is asked for. It is the reference that the other executors are held against.

use std::convert::Infallible;
use std::ops::ControlFlow;

use anabranch_record::lane::{Cell, Stop};
use anabranch_record::sync::Arc;

use super::cell::{through, through_serial};
use super::run::{ErrorSlot, Run, Site};
use super::sink::Watcher;
use crate::serial::{Pull, Pulled, Serial, Spread};
use crate::shape::{Shape, Single};
use crate::unit::{Apply, Unit};

/// Whether the driver shall go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The next item, please.
    More,
    /// The stream has stopped.
    Done,
}

/// Takes the cells of a lane, one after the other.
pub(crate) trait Push<S> {
    fn push(&mut self, cell: Cell<S>) -> Step;
}

/// Asks the source until the stream stops.
pub(crate) trait Drive {
    /// Gives how many items were pulled, and how many of them went all the way.
    fn drive(&mut self) -> (u64, u64);
}

pub(super) struct InlineSource<'env, P: Pull> {
    site: Site<P::Error>,
    pull: P,
    push: Box<dyn Push<P::Item> + 'env>,
}

impl<'env, P: Pull> InlineSource<'env, P> {
    pub(super) fn new(site: Site<P::Error>, pull: P, push: Box<dyn Push<P::Item> + 'env>) -> Self {
        Self { site, pull, push }
    }
}

impl<P: Pull> Drive for InlineSource<'_, P> {
    fn drive(&mut self) -> (u64, u64) {
        let mut index = 0;
        loop {
            if self.site.run.is_done() {
                // A token has cancelled the run: what stages have kept is dropped with them.
                return (index, index);
            }
            if self.site.run.is_stopping() {
                self.push.push(Cell::Stop(None, Stop::End));
                return (index, index);
            }
            let began = self.site.begin();
            let pulled = self.pull.pull();
            self.site.end(began, matches!(pulled, Pulled::Item(_)));
            let cell = match pulled {
                Pulled::Item(item) => Cell::Value(item),
                Pulled::End => Cell::Stop(None, Stop::End),
                Pulled::Fail(error) => {
                    self.site.fail(index, error);
                    Cell::Stop(None, Stop::Fail)
                }
            };
            if self.push.push(cell) == Step::Done {
                return (index, index);
            }
            index += 1;
        }
    }
}

pub(super) struct InlineHop<'env, U: Unit, E> {
    site: Site<E>,
    unit: U,
    local: Option<U::Local>,
    index: u64,
    push: Box<dyn Push<<U::To as Shape>::Slot<U::Out>> + 'env>,
}

impl<'env, U: Unit, E> InlineHop<'env, U, E> {
    pub(super) fn new(
        site: Site<E>,
        unit: U,
        push: Box<dyn Push<<U::To as Shape>::Slot<U::Out>> + 'env>,
    ) -> Self {
        Self { site, unit, local: None, index: 0, push }
    }
}

impl<U: Apply<E>, E> Push<<U::From as Shape>::Slot<U::In>> for InlineHop<'_, U, E> {
    fn push(&mut self, cell: Cell<<U::From as Shape>::Slot<U::In>>) -> Step {
        let Self { site, unit, local, index, push } = self;
        let (began, counts) = (site.begin(), !matches!(cell, Cell::Stop(..)));
        let local = local.get_or_insert_with(|| unit.local());
        let cell = through::<U::From, U::To, U::In, U::Out, E>(site, *index, cell, |item, gather| {
            unit.apply(local, item, &mut |item| {
                U::To::push(gather, item);
                ControlFlow::Continue(())
            })
        });
        site.end(began, counts);
        *index += 1;
        push.push(cell)
    }
}

pub(super) struct InlineStage<'env, S: Shape, T, E, Op: Serial<T, E>> {
    site: Site<E>,
    op: Op,
    index: u64,
    push: Box<dyn Push<S::Slot<Op::Out>> + 'env>,
}

impl<'env, S: Shape, T, E, Op: Serial<T, E>> InlineStage<'env, S, T, E, Op> {
    pub(super) fn new(site: Site<E>, op: Op, push: Box<dyn Push<S::Slot<Op::Out>> + 'env>) -> Self {
        Self { site, op, index: 0, push }
    }
}

impl<S: Shape, T: Send, E, Op: Serial<T, E>> Push<S::Slot<T>> for InlineStage<'_, S, T, E, Op> {
    fn push(&mut self, cell: Cell<S::Slot<T>>) -> Step {
        let (began, counts) = (self.site.begin(), !matches!(cell, Cell::Stop(..)));
        let cell = through_serial::<S, T, E, Op>(&self.site, self.index, cell, &mut self.op);
        self.site.end(began, counts);
        self.index += 1;
        self.push.push(cell)
    }
}

pub(super) struct InlineBridge<'env, S, T, E, Op: Spread<T, E>> {
    site: Site<E>,
    op: Op,
    /// The index behind the bridge.
    index: u64,
    push: Box<dyn Push<Op::Out> + 'env>,
    lane: std::marker::PhantomData<fn(T) -> S>,
}

impl<'env, S, T, E, Op: Spread<T, E>> InlineBridge<'env, S, T, E, Op> {
    pub(super) fn new(site: Site<E>, op: Op, push: Box<dyn Push<Op::Out> + 'env>) -> Self {
        Self { site, op, index: 0, push, lane: std::marker::PhantomData }
    }

    /// Gives what is in one item. Breaks when the stream has stopped.
    fn spread(&mut self, item: T) -> ControlFlow<()> {
        let began = self.site.begin();
        self.op.open(item);
        self.site.end(began, true);
        loop {
            let began = self.site.begin();
            let pulled = self.op.next();
            self.site.end(began, false);
            let cell = match pulled {
                Pulled::Item(item) => Cell::Value(item),
                Pulled::End => return ControlFlow::Continue(()),
                Pulled::Fail(error) => {
                    self.site.fail(self.index, error);
                    Cell::Stop(None, Stop::Fail)
                }
            };
            self.index += 1;
            if self.push.push(cell) == Step::Done {
                return ControlFlow::Break(());
            }
        }
    }
}

impl<S: Shape, T: Send, E, Op: Spread<T, E>> Push<S::Slot<T>> for InlineBridge<'_, S, T, E, Op> {
    fn push(&mut self, cell: Cell<S::Slot<T>>) -> Step {
        let (slot, stop) = match cell {
            Cell::Value(slot) => (Some(slot), None),
            Cell::Empty => (None, None),
            Cell::Stop(slot, stop) => (slot, Some(stop)),
        };
        if slot.is_some_and(|slot| S::each(slot, |item| self.spread(item)).is_break()) {
            return Step::Done;
        }
        match stop {
            Some(stop) => self.push.push(Cell::Stop(None, stop)),
            None => Step::More,
        }
    }
}

/// The end of an inline line.
pub(crate) struct InlineSink<'env, Op, E> {
    site: Site<E>,
    op: Op,
    index: u64,
    watcher: Watcher<'env>,
}

impl<'env, Op, E> InlineSink<'env, Op, E> {
    pub(crate) fn new(
        run: Arc<Run>,
        id: usize,
        op: Op,
        errors: &Arc<ErrorSlot<E>>,
        watcher: Watcher<'env>,
    ) -> Self {
        let site = Site {
            run,
            id,
            number: 0,
            in_time: false,
            is_dedicated: false,
            domain: None,
            errors: Arc::clone(errors),
        };
        Self { site, op, index: 0, watcher }
    }

    fn take<S, T>(&mut self, cell: Cell<S::Slot<T>>) -> Step
    where
        S: Shape,
        T: Send,
        Op: Serial<T, E, Out = Infallible>,
    {
        let Self { site, op, index, watcher } = self;
        let began = site.begin();
        let done = through::<S, Single, T, Infallible, E>(site, *index, cell, |item, gather| {
            op.call(item, &mut |never| {
                *gather = Some(never);
                ControlFlow::Continue(())
            })
        });
        let closed = matches!(done, Cell::Stop(..));
        site.end(began, !closed);
        *index += u64::from(!closed);
        if let Some(watcher) = watcher {
            watcher.passed(*index, closed);
        }
        if closed { Step::Done } else { Step::More }
    }
}

/// An inline sink for lanes of shape `S`.
pub(crate) struct InlineEnd<'env, S, T, Op, E> {
    sink: InlineSink<'env, Op, E>,
    lane: std::marker::PhantomData<fn(T) -> S>,
}

impl<'env, S, T, Op, E> InlineEnd<'env, S, T, Op, E> {
    pub(crate) fn new(sink: InlineSink<'env, Op, E>) -> Self {
        Self { sink, lane: std::marker::PhantomData }
    }
}

impl<S, T, Op, E> Push<S::Slot<T>> for InlineEnd<'_, S, T, Op, E>
where
    S: Shape,
    T: Send,
    Op: Serial<T, E, Out = Infallible>,
{
    fn push(&mut self, cell: Cell<S::Slot<T>>) -> Step {
        self.sink.take::<S, T>(cell)
    }
}
