//! The ports of a firing rule: its views with their rates. A rule has one port, or a tuple or vector of
//! ports.

use std::fmt;
use std::ops::Index;

use anabranch_record::sync::Arc;
use anabranch_record::{Deal, Dealt, Owning, TryStallError};

use super::{
    process::{Process, Wait},
    reader::{Items, ReadPort, Reader},
    records::{RecordInfo, Side},
    rule::RuleLink,
    writer::{Slots, WritePort, Writer},
};

/// A reader as an input of a firing rule. [`Reader::consumes`] makes it.
pub struct Input<T, R: Deal = Dealt> {
    reader: Reader<T, R>,
    consumes: usize,
    peeks: usize,
}

/// A writer as an output of a firing rule. [`Writer::produces`] makes it.
pub struct Output<T> {
    writer: Writer<T>,
    produces: usize,
}

impl<T, R: Deal> Reader<T, R> {
    /// Makes the view an input of a [firing rule](super::Network::rule). The rule consumes `n` items in each
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

impl<T> Writer<T> {
    /// Makes the view an output of a [firing rule](super::Network::rule). The rule produces `n` items in each
    /// firing.
    pub fn produces(self, n: usize) -> Output<T> {
        Output { writer: self, produces: n }
    }
}

/// Whether a group of ports allows a firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Every input has its items, and every output has room.
    Ready,
    /// The port with this number has to wait.
    Waits(usize),
    /// A port will never have enough items or room, so the rule has ended.
    Ended,
}

/// A description of a port before the run.
#[derive(Debug, Clone)]
pub struct PortInfo {
    pub(super) record: Arc<RecordInfo>,
    pub(super) side: Side,
    /// How many items a firing consumes or produces.
    pub(super) rate: usize,
    /// How many items or free slots a firing needs.
    pub(super) needs: usize,
    /// The length of the ranges that are dealt to the port. `None` if it is the only view on its side.
    pub(super) range: Option<usize>,
}

/// The interface of a rule's ports for the network.
mod sealed {
    use super::*;

    pub trait Face {
        /// How many ports there are.
        fn count(&self) -> usize;
        fn readiness(&mut self) -> Readiness;
        /// Announces that a port waits, so that the record calls its hook.
        fn announce(&mut self, port: usize);
        /// Takes the announcement of a port back.
        fn withdraw(&mut self, port: usize);
        /// The items or the room that a port waits for.
        fn wait(&self, port: usize) -> Option<Wait>;
        /// Appends a description of each port.
        fn describe(&self, into: &mut Vec<PortInfo>);
        /// Makes the ports belong to a rule.
        fn attach(&mut self, process: &Process, link: &Arc<RuleLink>);
        /// Says that one thread alone runs the rules at both ends of every record for which `is_inner` is
        /// true.
        fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool);
        /// Notes on `process`, whose rule ends, which records are closed on the other side.
        fn notice(&self, process: &Process);
    }
}

pub(super) use sealed::Face;

/// The inputs or outputs of a firing rule: `()`, an [`Input`] or [`Output`], or a tuple or vector of these.
pub trait Ports: Face {
    /// The items or slots that a firing gets: a [`Window`] for each input, a [`Fill`] for each output.
    type Bursts<'a>
    where
        Self: 'a;

    #[doc(hidden)]
    fn open(&mut self) -> Self::Bursts<'_>;

    /// Releases the consumed items, or commits the produced ones, after the firing.
    #[doc(hidden)]
    fn close(bursts: Self::Bursts<'_>) -> Result<(), String>;
}

impl<T, R: Deal> Face for Input<T, R> {
    fn count(&self) -> usize {
        1
    }

    #[inline]
    fn readiness(&mut self) -> Readiness {
        let there = match &mut self.reader.port {
            ReadPort::One(view) => view.try_receive(self.peeks).map(|items| items.len()),
            ReadPort::Many(view) => view.try_receive(self.peeks).map(|items| items.len()),
        };
        match there {
            None => Readiness::Waits(0),
            Some(len) if len < self.peeks => Readiness::Ended,
            Some(_) => Readiness::Ready,
        }
    }

    fn announce(&mut self, _: usize) {
        match &mut self.reader.port {
            ReadPort::One(view) => view.announce(),
            ReadPort::Many(view) => view.announce(),
        }
    }

    fn withdraw(&mut self, _: usize) {
        match &mut self.reader.port {
            ReadPort::One(view) => view.withdraw(),
            ReadPort::Many(view) => view.withdraw(),
        }
    }

    fn wait(&self, port: usize) -> Option<Wait> {
        let grip = &self.reader.grip;
        (port == 0).then(|| Wait {
            record: Arc::clone(&grip.record),
            view: grip.info.index,
            side: Side::Readers,
            count: self.peeks,
        })
    }

    fn describe(&self, into: &mut Vec<PortInfo>) {
        into.push(PortInfo {
            record: Arc::clone(&self.reader.grip.record),
            side: Side::Readers,
            rate: self.consumes,
            needs: self.peeks,
            range: self.reader.grip.range,
        });
    }

    fn attach(&mut self, process: &Process, link: &Arc<RuleLink>) {
        self.reader.grip.give_to(process);
        let is_alone = matches!(self.reader.port, ReadPort::One(_));
        self.reader.grip.door.give_to_rule(link, is_alone);
        if let ReadPort::Many(view) = &mut self.reader.port
            && self.peeks > view.horizon()
        {
            view.widen(self.peeks);
        }
    }

    fn set_alone(&mut self, _: &dyn Fn(&RecordInfo) -> bool) {}

    fn notice(&self, process: &Process) {
        let grip = &self.reader.grip;
        process.notice(&grip.hub, &grip.record, Side::Writers);
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
        let items = match &mut self.reader.port {
            ReadPort::One(view) => view.try_receive(self.peeks).map(super::reader::Burst::One),
            ReadPort::Many(view) => view.try_receive(self.peeks).map(super::reader::Burst::Many),
        };
        Window { items: Items(items.unwrap_or(super::reader::Burst::None(end))), end }
    }

    #[inline]
    fn close(mut window: Window<'_, T, R>) -> Result<(), String> {
        if !window.items.is_empty() {
            window.items.release_to(window.end);
        }
        Ok(())
    }
}

impl<T> Face for Output<T> {
    fn count(&self) -> usize {
        1
    }

    #[inline]
    fn readiness(&mut self) -> Readiness {
        let room = match &mut self.writer.port {
            WritePort::One(view) => view.try_stall(self.produces).map(drop),
            WritePort::Many(view) => view.try_stall(self.produces).map(drop),
        };
        match room {
            Ok(()) => Readiness::Ready,
            Err(TryStallError::Full) => Readiness::Waits(0),
            Err(TryStallError::Closed) => Readiness::Ended,
        }
    }

    fn announce(&mut self, _: usize) {
        match &mut self.writer.port {
            WritePort::One(view) => view.announce(),
            WritePort::Many(view) => view.announce(),
        }
    }

    fn withdraw(&mut self, _: usize) {
        match &mut self.writer.port {
            WritePort::One(view) => view.withdraw(),
            WritePort::Many(view) => view.withdraw(),
        }
    }

    fn wait(&self, port: usize) -> Option<Wait> {
        let grip = &self.writer.grip;
        (port == 0).then(|| Wait {
            record: Arc::clone(&grip.record),
            view: grip.info.index,
            side: Side::Writers,
            count: self.produces,
        })
    }

    fn describe(&self, into: &mut Vec<PortInfo>) {
        into.push(PortInfo {
            record: Arc::clone(&self.writer.grip.record),
            side: Side::Writers,
            rate: self.produces,
            needs: self.produces,
            range: self.writer.grip.range,
        });
    }

    fn attach(&mut self, process: &Process, link: &Arc<RuleLink>) {
        self.writer.grip.give_to(process);
        let is_alone = matches!(self.writer.port, WritePort::One(_));
        self.writer.grip.door.give_to_rule(link, is_alone);
        if let WritePort::Many(view) = &mut self.writer.port
            && self.produces > view.horizon()
        {
            view.widen(self.produces);
        }
    }

    fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool) {
        if let WritePort::One(view) = &self.writer.port
            && is_inner(&self.writer.grip.record)
        {
            view.set_alone();
        }
    }

    fn notice(&self, process: &Process) {
        let grip = &self.writer.grip;
        process.notice(&grip.hub, &grip.record, Side::Readers);
    }
}

impl<T> Ports for Output<T> {
    type Bursts<'a>
        = Fill<'a, T>
    where
        Self: 'a;

    #[inline]
    fn open(&mut self) -> Fill<'_, T> {
        let slots = match &mut self.writer.port {
            WritePort::One(view) => view.try_stall(self.produces).ok().map(Slots::one),
            WritePort::Many(view) => view.try_stall(self.produces).ok().map(Slots::many),
        };
        Fill { slots, record: &self.writer.grip.record, left: self.produces, surplus: 0 }
    }

    #[inline]
    fn close(fill: Fill<'_, T>) -> Result<(), String> {
        if fill.left > 0 || fill.surplus > 0 {
            return Err(fill.complaint());
        }
        if let Some(slots) = fill.slots {
            slots.commit();
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

/// The slots of an [`Output`] in a firing. The firing must fill all of them; otherwise the network ends with
/// an error.
pub struct Fill<'a, T> {
    /// `None` if the last reader has closed after the rule was found ready. Items that are written then are
    /// dropped.
    slots: Option<Slots<'a, T>>,
    record: &'a RecordInfo,
    left: usize,
    surplus: usize,
}

impl<T> Fill<'_, T> {
    /// Writes the next item.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.left == 0 {
            self.surplus += 1;
            return;
        }
        self.left -= 1;
        if let Some(slots) = &mut self.slots {
            slots.push(item);
        }
    }

    /// How many slots must still be filled.
    pub fn left(&self) -> usize {
        self.left
    }

    #[cold]
    fn complaint(&self) -> String {
        let record = self.record.title();
        match self.surplus {
            0 => format!("has left {} items of its output, {record}, unwritten in a firing", self.left),
            surplus => format!("has written {surplus} items too many to its output, {record}, in a firing"),
        }
    }
}

impl<T: Copy + Default> Fill<'_, T> {
    /// Calls `f` with slices of all slots of the firing, which it may write in any order, and the position of
    /// each slice's first slot. There are several slices if the slots wrap around the end of the record's
    /// memory. After the call, all slots count as filled. Items that were [pushed](Self::push) before are in
    /// the slices too. If the last reader has closed, `f` is not called.
    pub fn with_slices(&mut self, f: impl FnMut(usize, &mut [T])) {
        self.left = 0;
        if let Some(slots) = &mut self.slots {
            slots.with_slices(f);
        }
    }
}

impl<T> fmt::Debug for Fill<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fill").field("left", &self.left).finish_non_exhaustive()
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

impl<T> fmt::Debug for Output<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("writer", &self.writer).field("produces", &self.produces).finish()
    }
}

/// Finds the group that has a port, and calls it. The number of the port is lowered by the size of each group
/// before.
macro_rules! port_of {
    ($port:ident, $group:ident, $call:expr) => {
        if $port < $group.count() {
            return $call;
        }
        #[allow(unused_assignments)]
        {
            $port -= $group.count();
        }
    };
}

macro_rules! tuples {
    ($($name:ident)*) => {
        #[allow(non_snake_case, unused_variables, unused_mut, unused_assignments)]
        impl<$($name: Face),*> Face for ($($name,)*) {
            fn count(&self) -> usize {
                let ($($name,)*) = self;
                0 $(+ $name.count())*
            }

            #[inline]
            fn readiness(&mut self) -> Readiness {
                let ($($name,)*) = self;
                let (mut readiness, mut port) = (Readiness::Ready, 0);
                $(
                    readiness = readiness.and($name.readiness(), port);
                    port += $name.count();
                )*
                readiness
            }

            fn announce(&mut self, mut port: usize) {
                let ($($name,)*) = self;
                $(port_of!(port, $name, $name.announce(port));)*
            }

            fn withdraw(&mut self, mut port: usize) {
                let ($($name,)*) = self;
                $(port_of!(port, $name, $name.withdraw(port));)*
            }

            fn wait(&self, mut port: usize) -> Option<Wait> {
                let ($($name,)*) = self;
                $(port_of!(port, $name, $name.wait(port));)*
                None
            }

            fn describe(&self, into: &mut Vec<PortInfo>) {
                let ($($name,)*) = self;
                $($name.describe(into);)*
            }

            fn attach(&mut self, process: &Process, link: &Arc<RuleLink>) {
                let ($($name,)*) = self;
                $($name.attach(process, link);)*
            }

            fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool) {
                let ($($name,)*) = self;
                $($name.set_alone(is_inner);)*
            }

            fn notice(&self, process: &Process) {
                let ($($name,)*) = self;
                $($name.notice(process);)*
            }
        }

        #[allow(non_snake_case, clippy::unused_unit)]
        impl<$($name: Ports),*> Ports for ($($name,)*) {
            type Bursts<'a> = ($($name::Bursts<'a>,)*) where Self: 'a;

            #[inline]
            fn open(&mut self) -> Self::Bursts<'_> {
                let ($($name,)*) = self;
                ($($name.open(),)*)
            }

            #[inline]
            fn close(bursts: Self::Bursts<'_>) -> Result<(), String> {
                #[allow(non_snake_case)]
                let ($($name,)*) = bursts;
                $(tuples!(@close $name);)*
                Ok(())
            }
        }
    };
    (@close $name:ident) => { $name::close($name)?; };
}

tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D F);
tuples!(A B C D F G);

impl<P: Face> Face for Vec<P> {
    fn count(&self) -> usize {
        self.iter().map(Face::count).sum()
    }

    fn readiness(&mut self) -> Readiness {
        let mut port = 0;
        self.iter_mut().fold(Readiness::Ready, |readiness, each| {
            let next = readiness.and(each.readiness(), port);
            port += each.count();
            next
        })
    }

    fn announce(&mut self, mut port: usize) {
        for each in self {
            port_of!(port, each, each.announce(port));
        }
    }

    fn withdraw(&mut self, mut port: usize) {
        for each in self {
            port_of!(port, each, each.withdraw(port));
        }
    }

    fn wait(&self, mut port: usize) -> Option<Wait> {
        for each in self {
            port_of!(port, each, each.wait(port));
        }
        None
    }

    fn describe(&self, into: &mut Vec<PortInfo>) {
        self.iter().for_each(|each| each.describe(into));
    }

    fn attach(&mut self, process: &Process, link: &Arc<RuleLink>) {
        self.iter_mut().for_each(|each| each.attach(process, link));
    }

    fn set_alone(&mut self, is_inner: &dyn Fn(&RecordInfo) -> bool) {
        self.iter_mut().for_each(|each| each.set_alone(is_inner));
    }

    fn notice(&self, process: &Process) {
        self.iter().for_each(|each| each.notice(process));
    }
}

impl<P: Ports> Ports for Vec<P> {
    type Bursts<'a>
        = Vec<P::Bursts<'a>>
    where
        Self: 'a;

    fn open(&mut self) -> Self::Bursts<'_> {
        self.iter_mut().map(Ports::open).collect()
    }

    fn close(bursts: Self::Bursts<'_>) -> Result<(), String> {
        bursts.into_iter().try_for_each(P::close)
    }
}

impl Readiness {
    /// The readiness of two groups of ports together. The first port of the second group has the number
    /// `port`.
    #[inline]
    pub(super) fn and(self, other: Self, port: usize) -> Self {
        match (self, other) {
            (Readiness::Ended, _) | (_, Readiness::Ended) => Readiness::Ended,
            (Readiness::Waits(first), _) => Readiness::Waits(first),
            (Readiness::Ready, Readiness::Waits(second)) => Readiness::Waits(port + second),
            (Readiness::Ready, Readiness::Ready) => Readiness::Ready,
        }
    }
}
