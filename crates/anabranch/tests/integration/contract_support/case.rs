//! Random cases: a pipeline, its settings, and what goes wrong in it.

use proptest::prelude::*;

use super::world::{SINK, SOURCE};

/// A parallel operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Map,
    Filter,
    FilterMap,
    TryMap,
    MapWith,
    TryMapWith,
    Inspect,
    FlatMap,
    TryFilterMap,
    TryFlatMap,
}

impl Op {
    pub fn is_fallible(self) -> bool {
        matches!(self, Op::TryMap | Op::TryMapWith | Op::TryFilterMap | Op::TryFlatMap)
    }
}

/// A stretch of parallel operators without a serial stage between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chain {
    Direct,
    Map,
    Filter,
    FilterMap,
    TryMap,
    MapWith,
    TryMapWith,
    TryThenWith,
    InspectFilterTry,
    FlatMap,
    FlatTry,
    FilterFlatWith,
    FlatFlat,
    TryFilterMap,
    TryFlatMap,
    /// A box between two stages.
    Boxed,
    /// A box after each of three stages.
    BoxedThrice,
    /// A change of the error's type between two stages.
    NewError,
    /// The same behind a flat stage.
    FlatNewError,
}

impl Chain {
    pub fn ops(self) -> &'static [Op] {
        match self {
            Chain::Direct => &[],
            Chain::Map => &[Op::Map],
            Chain::Filter => &[Op::Filter],
            Chain::FilterMap => &[Op::FilterMap],
            Chain::TryMap => &[Op::TryMap],
            Chain::MapWith => &[Op::MapWith],
            Chain::TryMapWith => &[Op::TryMapWith],
            Chain::TryThenWith => &[Op::TryMap, Op::MapWith],
            Chain::InspectFilterTry => &[Op::Inspect, Op::Filter, Op::TryMap],
            Chain::FlatMap => &[Op::FlatMap],
            Chain::FlatTry => &[Op::FlatMap, Op::TryMap],
            Chain::FilterFlatWith => &[Op::Filter, Op::FlatMap, Op::TryMapWith],
            Chain::FlatFlat => &[Op::FlatMap, Op::FlatMap],
            Chain::TryFilterMap => &[Op::TryFilterMap],
            Chain::TryFlatMap => &[Op::TryFlatMap],
            Chain::Boxed => &[Op::Map, Op::TryMap],
            Chain::BoxedThrice => &[Op::FilterMap, Op::TryMapWith, Op::MapWith],
            Chain::NewError => &[Op::TryMap, Op::TryMapWith],
            Chain::FlatNewError => &[Op::FlatMap, Op::TryMap],
        }
    }

    /// Whether one item may become several.
    pub fn is_flat(self) -> bool {
        self.ops().iter().any(|op| matches!(op, Op::FlatMap | Op::TryFlatMap))
    }
}

/// A serial stage. Its limits are source indices, so that all readings agree on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serial {
    Each,
    Option,
    Try,
    Take(usize),
    TakeWhile(u64),
    Scan(u64),
    Enumerate,
    Zip(u64),
    Batch(usize),
    Skip(u64),
    SkipWhile(u64),
    StepBy(u64),
    MapWhile(u64),
    Dedup,
    ChunkBy,
    SortedWithin(usize),
    Chained,
    Windows(usize),
    WindowsByKey(usize),
    Needing,
}

impl Serial {
    /// How many windows of their own the items in it and behind it have.
    pub fn windows_opened(self) -> usize {
        match self {
            Serial::SortedWithin(_)
            | Serial::Chained
            | Serial::ChunkBy
            | Serial::Windows(_)
            | Serial::WindowsByKey(_) => 1,
            // One for the items that are issued, and one for the results in order.
            Serial::Needing => 2,
            _ => 0,
        }
    }

    /// How many items it may hold back, for each that it gives.
    pub fn holds(self) -> usize {
        match self {
            Serial::Batch(size) | Serial::Windows(size) => size,
            // Items go through it in blocks, and each block is divided.
            Serial::WindowsByKey(_) => 1_000,
            Serial::Needing => 2,
            // There is no limit: all may have one key.
            Serial::ChunkBy => 1_000,
            Serial::SortedWithin(window) => 1 + window,
            _ => 1,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Segment {
    pub chain: Chain,
    pub serial: Serial,
}

/// The end of the pipeline. All ends but the first can only follow a serial stage or the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    TryForEach,
    ForEach,
    Find(u64),
    Fold,
    Collect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Error,
    Panic,
}

/// A fault: at a node, and at an item of the source or, with `child`, at some of the items that were made of
/// it.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub node: usize,
    pub origin: u64,
    pub child: Option<u64>,
    pub kind: Kind,
}

/// A delay. It changes the order in which threads act, and must not change the results.
#[derive(Debug, Clone, Copy)]
pub enum Delay {
    None,
    Yield,
    First { micros: u64 },
    Now { one_in: u64, micros: u64 },
    Work { rounds: u64 },
    At { node: usize, micros: u64 },
}

#[derive(Debug, Clone)]
pub struct Case {
    pub items: u64,
    pub workers: usize,
    pub window: usize,
    pub burst: Option<usize>,
    /// Whether the source never waits, so that its items travel in blocks.
    pub in_blocks: bool,
    pub segments: Vec<Segment>,
    pub tail: Chain,
    pub end: End,
    pub faults: Vec<Fault>,
    pub delay: Delay,
}

/// The number of node `at` of segment `segment`. The operators come first, and the serial stage is the
/// fourth.
pub fn node(segment: usize, at: usize) -> usize {
    4 * (segment + 1) + at
}

impl Case {
    /// Every node in which something can go wrong.
    pub fn nodes(&self) -> Vec<usize> {
        let mut nodes = vec![SOURCE];
        for (at, segment) in self.segments.iter().enumerate() {
            nodes.extend((0..segment.chain.ops().len()).map(|op| node(at, op)));
            if !matches!(segment.serial, Serial::Take(_)) {
                nodes.push(node(at, 3));
            }
        }
        nodes.extend((0..self.tail.ops().len()).map(|op| node(self.segments.len(), op)));
        nodes.push(SINK);
        nodes
    }

    /// The fault that was planted for an item at a node. `child` says that the item is being made of another
    /// one.
    pub fn fault(&self, node: usize, origin: u64, path: u64, child: bool) -> Option<&Fault> {
        self.faults.iter().find(|fault| {
            fault.node == node
                && fault.origin == origin
                && match fault.child {
                    None => !child,
                    Some(number) => number == path & 3,
                }
        })
    }

    /// How many items of the source may be in flight at once. Items that a batch keeps, and those of a
    /// finished batch, count in addition: for each batch stage a batch that is being filled, and a full one
    /// for each index of the window.
    pub fn bound(&self) -> usize {
        let product: usize = self.segments.iter().map(|segment| segment.serial.holds()).product();
        let opened: usize = self.segments.iter().map(|segment| segment.serial.windows_opened()).sum();
        let windows = 1 + opened;
        // What leaves one window for the next may be in neither, one at a time.
        let between = windows - 1;
        let held = if product == 1 { 0 } else { 2 * product * self.segments.len() };
        // The items behind windows are as many together.
        let width = |serial| if let Serial::Windows(size) = serial { size } else { 1 };
        let widths: usize = self.segments.iter().map(|segment| width(segment.serial)).product();
        windows * self.window * widths + between + held
    }
}

fn chain() -> impl Strategy<Value = Chain> {
    prop_oneof![
        4 => Just(Chain::Direct),
        4 => Just(Chain::Map),
        1 => Just(Chain::Filter),
        1 => Just(Chain::FilterMap),
        2 => Just(Chain::TryMap),
        1 => Just(Chain::MapWith),
        1 => Just(Chain::TryThenWith),
        1 => Just(Chain::InspectFilterTry),
        1 => Just(Chain::FlatMap),
        1 => Just(Chain::FlatTry),
        1 => Just(Chain::FilterFlatWith),
        1 => Just(Chain::FlatFlat),
        1 => Just(Chain::TryFilterMap),
        1 => Just(Chain::TryFlatMap),
        2 => Just(Chain::Boxed),
        1 => Just(Chain::BoxedThrice),
        1 => Just(Chain::NewError),
        1 => Just(Chain::FlatNewError),
    ]
}

fn serial() -> impl Strategy<Value = Serial> {
    prop_oneof![
        6 => Just(Serial::Each),
        2 => Just(Serial::Option),
        3 => Just(Serial::Try),
        1 => (0..80usize).prop_map(Serial::Take),
        1 => (0..120u64).prop_map(Serial::TakeWhile),
        1 => (0..120u64).prop_map(Serial::Scan),
        1 => Just(Serial::Enumerate),
        1 => (0..120u64).prop_map(Serial::Zip),
        1 => (1..6usize).prop_map(Serial::Batch),
        1 => (0..20u64).prop_map(Serial::Skip),
        1 => (0..60u64).prop_map(Serial::SkipWhile),
        1 => (1..5u64).prop_map(Serial::StepBy),
        1 => (0..120u64).prop_map(Serial::MapWhile),
        1 => Just(Serial::Dedup),
        1 => Just(Serial::ChunkBy),
        1 => (0..6usize).prop_map(Serial::SortedWithin),
        1 => Just(Serial::Chained),
        1 => (1..6usize).prop_map(Serial::Windows),
        1 => (1..6usize).prop_map(Serial::WindowsByKey),
        1 => Just(Serial::Needing),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        3 => Just(End::TryForEach),
        1 => Just(End::ForEach),
        1 => (0..100u64).prop_map(End::Find),
        1 => Just(End::Fold),
        1 => Just(End::Collect),
    ]
}

fn delay() -> impl Strategy<Value = Delay> {
    prop_oneof![
        3 => Just(Delay::None),
        2 => Just(Delay::Yield),
        2 => (10..3_000u64).prop_map(|micros| Delay::First { micros }),
        2 => (5..40u64, 1..300u64).prop_map(|(one_in, micros)| Delay::Now { one_in, micros }),
        2 => (1..20_000u64).prop_map(|rounds| Delay::Work { rounds }),
        1 => (1000..2000usize, 1..60u64).prop_map(|(node, micros)| Delay::At { node, micros }),
    ]
}

/// Faults anywhere: [`Case::buildable`] finds a node of the case for each.
fn faults() -> impl Strategy<Value = Vec<Fault>> {
    let kind = prop_oneof![Just(Kind::Error), Just(Kind::Panic)];
    let origin = prop_oneof![3 => 0..100u64, 1 => 0..4u64];
    let child = prop_oneof![2 => Just(None), 1 => (0..3u64).prop_map(Some)];
    let fault = (1000..2000usize, origin, child, kind).prop_map(|(node, origin, child, kind)| Fault {
        node,
        origin,
        child,
        kind,
    });
    prop_oneof![1 => Just(Vec::new()), 3 => prop::collection::vec(fault, 1..4)]
}

impl Case {
    /// The nearest case for which the tests have a pipeline.
    pub fn buildable(mut self) -> Self {
        // At most two flat stretches: three children of three children are enough.
        let mut flat = 0;
        for chain in self.segments.iter_mut().map(|segment| &mut segment.chain).chain([&mut self.tail]) {
            flat += chain.ops().iter().filter(|&&op| op == Op::FlatMap || op == Op::TryFlatMap).count();
            if flat > 2 && chain.is_flat() {
                *chain = Chain::Map;
            }
        }
        // A block is as a batch that a flat stage has made.
        let mut is_flat = self.in_blocks;
        for segment in &mut self.segments {
            is_flat |= segment.chain.is_flat();
            if is_flat && segment.serial.windows_opened() > 0 {
                segment.serial = Serial::Each;
            }
        }
        let tails = [Chain::Direct, Chain::Map, Chain::TryMap, Chain::TryMapWith, Chain::FlatMap];
        if !tails.contains(&self.tail) {
            self.tail = Chain::TryMapWith;
        }
        if self.tail != Chain::Direct {
            self.end = End::TryForEach;
        }
        // Faults of nodes that were removed are planted in other nodes.
        let nodes = self.nodes();
        let place = |node: usize| if nodes.contains(&node) { node } else { nodes[node % nodes.len()] };
        self.faults.iter_mut().for_each(|fault| fault.node = place(fault.node));
        if let Delay::At { node, .. } = &mut self.delay {
            *node = place(*node);
        }
        self
    }
}

/// Any case. `window` is 1 to 64 and `workers` 1 to 9, as in the tests of the contract.
pub fn cases() -> impl Strategy<Value = Case> {
    let segments = prop::collection::vec(
        (chain(), serial()).prop_map(|(chain, serial)| Segment { chain, serial }),
        0..5,
    );
    let window = prop_oneof![3 => 1..6usize, 3 => 6..65usize];
    let burst = prop_oneof![2 => Just(None), 1 => (1..20usize).prop_map(Some)];
    let source = (0..130u64, prop_oneof![2 => Just(false), 1 => Just(true)]);
    (source, 1..10usize, window, burst, segments, chain(), end(), faults(), delay()).prop_map(
        |((items, in_blocks), workers, window, burst, segments, tail, end, faults, delay)| {
            let case = Case { items, workers, window, burst, in_blocks, segments, tail, end, faults, delay };
            case.buildable()
        },
    )
}
