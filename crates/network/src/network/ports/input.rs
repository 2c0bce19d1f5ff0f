//! Inputs of firing rules: readers with a rate, and the window that a firing sees.

use std::fmt;
use std::ops::Index;

use crate::record::port::ReadPort;
use crate::record::{Deal, Dealt, Owning};
use anabranch_record::sync::Arc;

use super::{PortInfo, Ports, Readiness, ViewControl};
use crate::network::{
    process::Process,
    queue::RuleLink,
    reader::{Items, Reader},
    records::{RecordInfo, Side, Wait},
};

/// A reader as an input of a firing rule. [`Reader::consumes`] makes it.
pub struct Input<T, R: Deal = Dealt> {
    reader: Reader<T, R>,
    consumes: usize,
    peeks: usize,
}

impl<T, R: Deal> Reader<T, R> {
    /// Makes the view an input of a [firing rule](crate::Network::rule). The rule consumes `n` items in each
    /// firing.
    pub fn consumes(self, n: usize) -> Input<T, R> {
        Input { reader: self, consumes: n, peeks: n }
    }
}

impl<T, R: Deal> Input<T, R> {
    /// Lets the rule see `m` items in each firing, including the items that it consumes. The rule fires when
    /// all of them have been written. If `m` is less than the number of consumed items, the rule sees the
    /// consumed items.
    #[must_use]
    pub fn peeks(mut self, m: usize) -> Self {
        self.peeks = self.consumes.max(m);
        self
    }
}

impl<T, R: Deal> ViewControl for Input<T, R> {
    fn count(&self) -> usize {
        1
    }

    #[inline]
    fn readiness(&mut self) -> Readiness {
        match self.reader.port.try_receive(self.peeks).map(|items| items.len()) {
            None => Readiness::Waits(0),
            Some(len) if len < self.peeks => Readiness::Ended,
            Some(_) => Readiness::Ready,
        }
    }

    fn announce(&mut self, _: usize) {
        self.reader.port.announce();
    }

    fn withdraw(&mut self, _: usize) {
        self.reader.port.withdraw();
    }

    fn wait(&self, port: usize) -> Option<Wait> {
        let handle = &self.reader.handle;
        (port == 0).then(|| Wait {
            record: Arc::clone(&handle.record),
            view: handle.info.index,
            side: Side::Readers,
            count: self.peeks,
        })
    }

    fn describe(&self, into: &mut Vec<PortInfo>) {
        into.push(PortInfo {
            record: Arc::clone(&self.reader.handle.record),
            side: Side::Readers,
            rate: self.consumes,
            needs: self.peeks,
            range: self.reader.handle.range,
        });
    }

    fn attach(&mut self, process: &Process, link: &Arc<RuleLink>) {
        self.reader.handle.give_to(process);
        let is_alone = matches!(self.reader.port, ReadPort::One(_));
        self.reader.handle.wait_list.give_to_rule(link, is_alone);
        if self.peeks <= self.reader.handle.record.most {
            self.reader.port.widen(self.peeks);
        }
    }

    fn set_alone(&mut self, _: &dyn Fn(&RecordInfo) -> bool) {}

    fn notice(&self, process: &Process) {
        let handle = &self.reader.handle;
        process.notice(&handle.network, &handle.record, Side::Writers);
    }
}

impl<T, R: Deal> Ports for Input<T, R> {
    type Bursts<'a>
        = Window<'a, T, R>
    where
        Self: 'a;

    #[inline]
    fn open(&mut self) -> Window<'_, T, R> {
        let end = self.reader.index() + self.consumes as u64;
        Window { items: self.reader.port.receive_ready(self.peeks), end }
    }

    #[inline]
    fn close(mut window: Window<'_, T, R>) -> Result<(), String> {
        if !window.items.is_empty() {
            window.items.release_to(window.end);
        }
        Ok(())
    }
}

/// The items of an [`Input`] that a firing sees. Consumed items that the firing does not [take](Self::pop)
/// are dropped after the firing.
pub struct Window<'a, T, R: Deal = Dealt> {
    items: Items<'a, T, R>,
    /// The items below this index are consumed.
    end: u64,
}

impl<T, R: Deal> Window<'_, T, R> {
    /// How many items the window has. Items that were taken do not count.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the window has no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The index in the stream of the window's first item.
    pub fn index(&self) -> u64 {
        self.items.index()
    }

    /// The item at `position`; position 0 is the window's first item.
    #[inline]
    pub fn get(&self, position: usize) -> Option<&T> {
        self.items.get(position)
    }

    /// The items of the window, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// Calls `f` with slices of the window's items, and the position of each slice's first item. There are
    /// several slices if the window wraps around the end of the record's memory.
    pub fn with_slices(&self, f: impl FnMut(usize, &[T])) {
        self.items.with_slices(f);
    }
}

impl<T, R: Owning> Window<'_, T, R> {
    /// Takes the window's first item. Returns `None` if the firing does not consume that item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.items.index() < self.end { self.items.pop() } else { None }
    }
}

/// The item at a position; position 0 is the window's first item.
///
/// # Panics
/// If the window has no item at that position.
impl<T, R: Deal> Index<usize> for Window<'_, T, R> {
    type Output = T;

    #[inline]
    fn index(&self, position: usize) -> &T {
        &self.items[position]
    }
}

impl<T, R: Deal> fmt::Debug for Window<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Window").field(&self.items).finish()
    }
}

impl<T, R: Deal> fmt::Debug for Input<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("reader", &self.reader)
            .field("consumes", &self.consumes)
            .field("peeks", &self.peeks)
            .finish()
    }
}
