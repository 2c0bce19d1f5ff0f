//! The inline executor: everything on the caller's thread, each item from the source to the sink before the
//! next is asked for. It is the reference that the other executors are held against.

use std::convert::Infallible;
use std::ops::ControlFlow;

use anabranch_record::lane::{Cell, Stop};
use anabranch_record::sync::{Arc, Ordering};

use super::cell::{items_in, through, through_serial};
use super::clock::Moment;
use super::measures::{Measures, Stride, Tally};
use super::run::{ErrorSlot, Run, Site};
use super::sink::Watcher;
use crate::serial::{Pull, Pulled, Serial, Spread};
use crate::shape::{Shape, Single};
use crate::unit::{Apply, Unit};

/// What the inline executor has counted of a node and not yet handed in.
struct Count {
    run: Arc<Run>,
    id: usize,
    tally: Tally,
}

impl Count {
    fn new<E>(site: &Site<E>) -> Self {
        Self { run: Arc::clone(&site.run), id: site.id, tally: Tally::default() }
    }

    /// Counts what passed; if that was measured since it began, hands in what was counted.
    #[inline]
    fn add(&mut self, began: Option<Moment>, tally: Tally) {
        self.tally.add(tally);
        if let (Some(began), Some(measures)) = (began, self.run.measures()) {
            measures.end_alone(self.id, std::mem::take(&mut self.tally), began);
        }
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        if let Some(measures) = self.run.measures() {
            measures.count(self.id, self.tally);
        }
    }
}

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
    /// Gives how many items were pulled.
    fn drive(&mut self) -> u64;
}

pub(super) struct InlineSource<'env, P: Pull> {
    site: Site<P::Error>,
    count: Count,
    pull: P,
    push: Box<dyn Push<P::Item> + 'env>,
}

impl<'env, P: Pull> InlineSource<'env, P> {
    pub(super) fn new(site: Site<P::Error>, pull: P, push: Box<dyn Push<P::Item> + 'env>) -> Self {
        Self { count: Count::new(&site), site, pull, push }
    }
}

impl<P: Pull> Drive for InlineSource<'_, P> {
    fn drive(&mut self) -> u64 {
        let mut index = 0;
        let mut stride = Stride::new();
        loop {
            if self.site.run.is_done() {
                // A token has cancelled the run: what stages have kept is dropped with them.
                return index;
            }
            if self.site.run.is_stopping() {
                self.push.push(Cell::Stop(None, Stop::End));
                return index;
            }
            let weight = take_up(&self.site, 1, &mut stride);
            let began = self.site.begin();
            let pulled = {
                let _entered = self.site.enter();
                self.pull.pull()
            };
            let items = u64::from(matches!(pulled, Pulled::Item(_)));
            self.count.add(began, Tally { cells: items, items, given: items });
            let cell = match pulled {
                Pulled::Item(item) => Cell::Value(item),
                Pulled::End => Cell::Stop(None, Stop::End),
                Pulled::Fail(error) => {
                    self.site.fail(index, error);
                    Cell::Stop(None, Stop::Fail)
                }
            };
            let began = (weight > 0).then(Moment::now);
            if self.push.push(cell) == Step::Done {
                return index;
            }
            put_down(&self.site, weight, began, &mut stride);
            index += 1;
        }
    }
}

/// Leaves the span that was entered.
#[inline]
fn leave(_entered: impl Sized) {}

/// Takes up the next item that a source or a bridge gives, of one that stands for `outer`. Gives for how many it
/// stands: 0 if it is not measured.
#[inline]
fn take_up<E>(site: &Site<E>, outer: u64, stride: &mut Stride) -> u64 {
    let Some(measures) = site.run.measures() else { return 0 };
    let weight = if outer == 0 { 0 } else { outer * stride.next() };
    measures.set_weight(weight);
    weight
}

/// The item that was taken up has come to its end.
#[inline]
fn put_down<E>(site: &Site<E>, weight: u64, began: Option<Moment>, stride: &mut Stride) {
    let (Some(began), Some(measures)) = (began, site.run.measures()) else { return };
    let nanos = began.elapsed();
    stride.took(nanos);
    if let Some(transit) = measures.transit(site.id) {
        transit.count(nanos, weight);
    }
}

pub(super) struct InlineHop<'env, U: Unit, E> {
    site: Site<E>,
    count: Count,
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
        Self { count: Count::new(&site), site, unit, local: None, index: 0, push }
    }
}

impl<U: Apply<E>, E> Push<<U::From as Shape>::Slot<U::In>> for InlineHop<'_, U, E> {
    fn push(&mut self, cell: Cell<<U::From as Shape>::Slot<U::In>>) -> Step {
        let Self { site, count, unit, local, index, push } = self;
        let (began, items) = (site.begin(), items_in::<U::From, U::In>(&cell));
        let entered = site.enter();
        let local = local.get_or_insert_with(|| unit.local());
        let cell = through::<U::From, U::To, U::In, U::Out, E>(site, *index, cell, |item, gather| {
            unit.apply(local, item, &mut |item| {
                U::To::push(gather, item);
                ControlFlow::Continue(())
            })
        });
        leave(entered);
        count.add(began, Tally { cells: 1, items, given: items_in::<U::To, U::Out>(&cell) });
        *index += 1;
        push.push(cell)
    }
}

pub(super) struct InlineStage<'env, S: Shape, T, E, Op: Serial<T, E>> {
    site: Site<E>,
    count: Count,
    op: Op,
    index: u64,
    push: Box<dyn Push<S::Slot<Op::Out>> + 'env>,
}

impl<'env, S: Shape, T, E, Op: Serial<T, E>> InlineStage<'env, S, T, E, Op> {
    pub(super) fn new(site: Site<E>, op: Op, push: Box<dyn Push<S::Slot<Op::Out>> + 'env>) -> Self {
        Self { count: Count::new(&site), site, op, index: 0, push }
    }
}

impl<S: Shape, T: Send, E, Op: Serial<T, E>> Push<S::Slot<T>> for InlineStage<'_, S, T, E, Op> {
    fn push(&mut self, cell: Cell<S::Slot<T>>) -> Step {
        let (began, items) = (self.site.begin(), items_in::<S, T>(&cell));
        let entered = self.site.enter();
        let cell = through_serial::<S, T, E, Op>(&self.site, self.index, cell, &mut self.op);
        leave(entered);
        self.count.add(began, Tally { cells: 1, items, given: items_in::<S, Op::Out>(&cell) });
        self.index += 1;
        self.push.push(cell)
    }
}

pub(super) struct InlineBridge<'env, S, T, E, Op: Spread<T, E>> {
    site: Site<E>,
    count: Count,
    op: Op,
    /// The index behind the bridge.
    index: u64,
    push: Box<dyn Push<Op::Out> + 'env>,
    lane: std::marker::PhantomData<fn(T) -> S>,
}

impl<'env, S, T, E, Op: Spread<T, E>> InlineBridge<'env, S, T, E, Op> {
    pub(super) fn new(site: Site<E>, op: Op, push: Box<dyn Push<Op::Out> + 'env>) -> Self {
        Self { count: Count::new(&site), site, op, index: 0, push, lane: std::marker::PhantomData }
    }

    /// Gives what is in one item. Breaks when the stream has stopped.
    fn spread(&mut self, item: T) -> ControlFlow<()> {
        let began = self.site.begin();
        let entered = self.site.enter();
        self.op.open(item);
        leave(entered);
        self.count.add(began, Tally { cells: 1, items: 1, given: 0 });
        let outer = self.site.run.measures().map_or(0, Measures::weight);
        let mut stride = Stride::new();
        loop {
            if self.site.run.is_ending() {
                return ControlFlow::Break(());
            }
            let weight = take_up(&self.site, outer, &mut stride);
            let began = self.site.begin();
            let entered = self.site.enter();
            let pulled = self.op.next();
            leave(entered);
            self.count.add(
                began,
                Tally { given: u64::from(matches!(pulled, Pulled::Item(_))), ..Tally::default() },
            );
            let cell = match pulled {
                Pulled::Item(item) => Cell::Value(item),
                Pulled::End => {
                    if let Some(measures) = self.site.run.measures() {
                        measures.set_weight(outer);
                    }
                    return ControlFlow::Continue(());
                }
                Pulled::Fail(error) => {
                    self.site.fail(self.index, error);
                    Cell::Stop(None, Stop::Fail)
                }
            };
            self.index += 1;
            let began = (weight > 0).then(Moment::now);
            if self.push.push(cell) == Step::Done {
                return ControlFlow::Break(());
            }
            put_down(&self.site, weight, began, &mut stride);
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
    count: Count,
    op: Op,
    /// How many cells have passed that were items, or stood for some.
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
            opened_by: 0,
            in_time: false,
            gives_arrivals: false,
            is_dedicated: false,
            domain: None,
            errors: Arc::clone(errors),
        };
        Self { count: Count::new(&site), site, op, index: 0, watcher }
    }

    fn take<S, T>(&mut self, cell: Cell<S::Slot<T>>) -> Step
    where
        S: Shape,
        T: Send,
        Op: Serial<T, E, Out = Infallible>,
    {
        let Self { site, count, op, index, watcher } = self;
        let (began, items) = (site.begin(), items_in::<S, T>(&cell));
        let is_last = site.run.is_item(&cell);
        let _entered = site.enter();
        let done = through::<S, Single, T, Infallible, E>(site, *index, cell, |item, gather| {
            op.call(item, &mut |never| {
                *gather = Some(never);
                ControlFlow::Continue(())
            })
        });
        let closed = matches!(done, Cell::Stop(..));
        count.add(began, Tally { cells: 1, items, given: 0 });
        *index += u64::from(!closed || is_last);
        if let Some(watcher) = watcher {
            watcher.passed(*index, closed);
        }
        if closed { Step::Done } else { Step::More }
    }
}

impl<Op, E> Drop for InlineSink<'_, Op, E> {
    fn drop(&mut self) {
        self.site.run.delivered.store(self.index, Ordering::Relaxed);
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
