//! Windows over the whole stream, on one thread at a time.

use super::aggregate::Aggregate;
use super::keys::Hashed;
use super::layout::Layout;
use super::machine::Machine;
use super::merge::Ordered;
use super::results::{Closed, ItemPlace, Results};
use super::{Parts, Window};
use crate::engine::Spread;
use crate::engine::nodes::pull::Pulled;

/// A spreading stage that gives the windows of the whole stream.
pub(crate) struct Whole<T, A: Aggregate<T>, F, L> {
    layout: Layout,
    time: F,
    late: L,
    aggregate: A,
    machine: Machine<(), T, A>,
    order: u64,
    high: i64,
    /// The place up to which windows were closed.
    border: i64,
    /// The results of the open item, if there is at most one. Its memory is used again.
    results: Results<(), T, A::Value>,
    /// The results of the open item, if there are several.
    open: Option<Ordered<(), T, A::Value>>,
}

impl<T, A: Aggregate<T>, F, L> Whole<T, A, F, L> {
    pub(crate) fn new(parts: Parts<F, L>, aggregate: A) -> Self {
        let Parts { layout, time, late } = parts;
        let border = layout.border(layout.watermark(i64::MIN));
        let machine = Machine::new(layout);
        Self {
            layout,
            time,
            late,
            aggregate,
            machine,
            order: 0,
            high: i64::MIN,
            border,
            results: Results::default(),
            open: None,
        }
    }

    /// Gives the results, in order.
    fn give(&mut self) {
        if self.results.closed.len() > 1 || !self.results.late.is_empty() {
            self.open = Some(Ordered::new(std::mem::take(&mut self.results), None));
        }
    }
}

impl<T, A, F, L, E> Spread<T, E> for Whole<T, A, F, L>
where
    T: Send,
    A: Aggregate<T>,
    F: Fn(&T) -> i64 + Send,
    L: FnMut(T) + Send,
{
    type Out = Window<A::Value>;

    #[inline]
    fn open(&mut self, item: T) {
        let time = (self.time)(&item);
        let place = ItemPlace { order: self.order, time, watermark: self.layout.watermark(self.high) };
        let key = Hashed { hash: 0, key: () };
        self.machine.add(place, key, item, &self.aggregate, &mut self.results);
        self.order += 1;
        if time > self.high {
            self.high = time;
            let watermark = self.layout.watermark(time);
            let border = self.layout.border(watermark);
            if std::mem::replace(&mut self.border, border) != border {
                self.machine.advance(watermark, &self.aggregate, &mut 0, &mut self.results);
            }
        }
        self.give();
    }

    #[inline]
    fn next(&mut self) -> Pulled<Self::Out, E> {
        let next = match &mut self.open {
            Some(open) => open.next(&mut self.late),
            None => self.results.closed.pop(),
        };
        match next {
            Some(Closed { start, end, value, .. }) => Pulled::Item(Window { start, end, value }),
            None => {
                self.open = None;
                Pulled::End
            }
        }
    }

    fn end(&mut self) -> bool {
        self.machine.end(&self.aggregate, &mut 0, &mut self.results);
        self.give();
        true
    }
}
