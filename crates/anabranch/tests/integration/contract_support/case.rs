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
    FilterMapWith,
    Farm,
    TryFarm,
}

impl Op {
    pub fn is_fallible(self) -> bool {
        matches!(self, Op::TryMap | Op::TryMapWith | Op::TryFilterMap | Op::TryFlatMap | Op::TryFarm)
    }

    /// Whether it may make nothing of an item.
    fn drops(self) -> bool {
        use Op::*;
        matches!(self, Filter | FilterMap | FilterMapWith | TryFilterMap | FlatMap | TryFlatMap)
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
    FilterMapWith,
    /// Workers that differ, around a stage that counts bytes.
    Farms,
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
            Chain::FilterMapWith => &[Op::FilterMapWith],
            Chain::Farms => &[Op::Farm, Op::TryFarm],
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
    /// So many items behind those of the stream.
    Chained(usize),
    /// So many items between those of the stream.
    Interleaved(usize),
    Windows(usize),
    WindowsByKey(usize),
    /// Windows of a size, so many items apart.
    Sliding(usize, usize),
    /// The same by `aggregate_windows`.
    Aggregated(usize, usize),
    /// Windows of a length of time by `aggregate_windows_by_key`. The time of an item is its index in the source.
    Times(u64),
    /// Sessions with a gap.
    Sessions(u64),
    Needing,
    TryOption,
    Throttled,
    FlatEach,
    TryFlatEach,
    FlatSpread,
    TryFlatSpread,
    Spread,
    /// A stage of the pipeline that is a value.
    Through,
    /// A state for each group of items, in so many shards.
    Sharded(usize),
    TrySharded(usize),
    ByKey,
    ReadyChunks(usize),
    /// Two branches, of which one keeps the order and the other one may fail.
    Zipped,
    /// Two branches that give a child each.
    Merged,
    Split(Way),
    /// Items that go round until the loop lets them out.
    Feedback,
}

/// How items are dealt to branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    If,
    InTurn,
    ByKey,
    Chosen,
}

impl Serial {
    /// Whether it keeps the items of a batch together. Before any other stage, batches become single items.
    pub fn keeps_batches(self) -> bool {
        use Serial::*;
        matches!(
            self,
            Each | Option
                | Try
                | Take(_)
                | TakeWhile(_)
                | Scan(_)
                | Enumerate
                | Zip(_)
                | Batch(_)
                | Skip(_)
                | SkipWhile(_)
                | StepBy(_)
                | MapWhile(_)
                | Dedup
                | TryOption
                | Throttled
        )
    }

    /// How many windows of their own the items in it and behind it have.
    pub fn windows_opened(self) -> usize {
        match self {
            Serial::SortedWithin(_)
            | Serial::Chained(_)
            | Serial::Interleaved(_)
            | Serial::ChunkBy
            | Serial::Windows(_)
            | Serial::WindowsByKey(_)
            | Serial::Sliding(..)
            | Serial::Aggregated(..)
            | Serial::Times(_)
            | Serial::Sessions(_)
            | Serial::FlatEach
            | Serial::TryFlatEach
            | Serial::FlatSpread
            | Serial::TryFlatSpread
            | Serial::Spread
            | Serial::Merged
            | Serial::Feedback => 1,
            // One for the items that are issued, and one for the results in order; one for the chunks, and one for their
            // items.
            Serial::Needing | Serial::ReadyChunks(_) => 2,
            _ => 0,
        }
    }

    /// Whether its code runs for several items at once.
    pub fn is_parallel(self) -> bool {
        use Serial::*;
        matches!(
            self,
            Needing | Through | Sharded(_) | TrySharded(_) | ByKey | Merged | Split(_) | Feedback | Spread
        )
    }

    /// Whether one item may become several.
    pub fn is_flat(self) -> bool {
        use Serial::*;
        matches!(self, FlatEach | TryFlatEach | FlatSpread | TryFlatSpread | Merged)
    }

    /// Whether it may make nothing of an item.
    fn drops(self) -> bool {
        use Serial::*;
        match self {
            Option | TryOption | Skip(_) | SkipWhile(_) | StepBy(_) | Dedup => true,
            FlatEach | TryFlatEach | FlatSpread | TryFlatSpread => true,
            Sliding(size, step) | Aggregated(size, step) => step > size,
            _ => false,
        }
    }

    /// Whether items are in several windows, or in several branches. Only then may they be cloned.
    pub fn clones(self) -> bool {
        matches!(self, Serial::Sliding(..) | Serial::Aggregated(..) | Serial::Zipped | Serial::Merged)
    }

    /// How many items one item may stand for behind it.
    fn width(self) -> usize {
        match self {
            Serial::Windows(size)
            | Serial::Sliding(size, _)
            | Serial::Aggregated(size, _)
            | Serial::ReadyChunks(size) => size,
            _ => 1,
        }
    }

    /// How many items it may hold back, for each that it gives.
    pub fn holds(self) -> usize {
        match self {
            Serial::Batch(size) | Serial::Windows(size) | Serial::ReadyChunks(size) => size,
            Serial::Sliding(size, _) | Serial::Aggregated(size, _) => size,
            // Items go through it in blocks, and each block is divided.
            Serial::WindowsByKey(_) | Serial::Times(_) => 1_000,
            Serial::Needing => 2,
            // There is no limit: all may have one key, and be in one session.
            Serial::ChunkBy | Serial::Sessions(_) => 1_000,
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
    Any(u64),
    Fold,
    TryFold,
    /// An iterator, which is taken to its end.
    Iter,
}

impl End {
    pub fn is_fallible(self) -> bool {
        matches!(self, End::TryForEach | End::TryFold)
    }
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

    /// Whether items may be dropped before a stage that opens a window, or in it. Then that window holds only those that are
    /// left, and the source may have given any number of others.
    pub fn drops_before_a_window(&self) -> bool {
        let (mut is_batched, mut drops) = (self.in_blocks, false);
        self.segments.iter().any(|Segment { chain, serial }| {
            is_batched |= chain.is_flat();
            drops |= chain.ops().iter().any(|op| op.drops()) || serial.drops();
            drops && (serial.windows_opened() > 0 || (is_batched && !serial.keeps_batches()))
        })
    }

    /// Whether a stage may make nothing of an item.
    pub fn drops(&self) -> bool {
        self.segments
            .iter()
            .any(|Segment { chain, serial }| chain.ops().iter().any(|op| op.drops()) || serial.drops())
    }

    /// Whether a stage may clone items.
    pub fn clones(&self) -> bool {
        self.segments.iter().any(|segment| segment.serial.clones())
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

    /// How many items of the source one item at the end may stand for.
    pub fn gathered(&self) -> usize {
        self.segments.iter().map(|segment| segment.serial.holds()).product()
    }

    /// How many items of the source may be in flight at once. Items that a batch keeps, and those of a
    /// finished batch, count in addition: for each batch stage a batch that is being filled, and a full one
    /// for each index of the window.
    pub fn bound(&self) -> usize {
        let product = self.gathered();
        let mut is_batched = self.in_blocks;
        let (mut windows, mut in_windows) = (1, self.window);
        // How many items each index of a window that opens behind a batch stage may hold: a batch is one item there.
        let mut in_a_batch = 1;
        for Segment { chain, serial } in &self.segments {
            is_batched |= chain.is_flat();
            // Before such a stage, batches become single items in a window of their own.
            let before = usize::from(is_batched && !serial.keeps_batches());
            windows += before + serial.windows_opened();
            in_windows += before * self.window * in_a_batch;
            if let Serial::Batch(size) = serial {
                in_a_batch *= size;
            }
            in_windows += serial.windows_opened() * self.window * in_a_batch;
        }
        // What leaves one window for the next may be in neither, one at a time.
        let between = (windows - 1) * in_a_batch;
        let held = if product == 1 { 0 } else { 2 * product * self.segments.len() };
        // The items behind windows are as many together.
        let widths: usize = self.segments.iter().map(|segment| segment.serial.width()).product();
        // Up to half a window of results waits for the reader of an iterator, which has one more. Each may be a batch.
        let read = if self.end == End::Iter { (1 + self.window / 2) * product } else { 0 };
        in_windows * widths + between + held + read
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
        1 => Just(Chain::FilterMapWith),
        1 => Just(Chain::Farms),
        2 => Just(Chain::Boxed),
        1 => Just(Chain::BoxedThrice),
        1 => Just(Chain::NewError),
        1 => Just(Chain::FlatNewError),
    ]
}

fn serial() -> impl Strategy<Value = Serial> {
    // The stages that keep the batches of flat stretches, and all others.
    prop_oneof![3 => plain_serial(), 3 => gathering_serial(), 2 => dealing_serial()]
}

fn plain_serial() -> impl Strategy<Value = Serial> {
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
        1 => Just(Serial::TryOption),
        1 => Just(Serial::Throttled),
    ]
}

fn gathering_serial() -> impl Strategy<Value = Serial> {
    prop_oneof![
        1 => Just(Serial::ChunkBy),
        1 => (0..6usize).prop_map(Serial::SortedWithin),
        1 => (0..9usize).prop_map(Serial::Chained),
        1 => (0..150usize).prop_map(Serial::Interleaved),
        1 => (1..6usize).prop_map(Serial::Windows),
        1 => (1..6usize).prop_map(Serial::WindowsByKey),
        1 => (1..6usize, 1..6usize).prop_map(|(size, step)| Serial::Sliding(size, step)),
        1 => (1..6usize, 1..6usize).prop_map(|(size, step)| Serial::Aggregated(size, step)),
        1 => (1..20u64).prop_map(Serial::Times),
        1 => (1..6u64).prop_map(Serial::Sessions),
        1 => (1..6usize).prop_map(Serial::ReadyChunks),
        2 => Just(Serial::Needing),
    ]
}

fn dealing_serial() -> impl Strategy<Value = Serial> {
    let way = prop_oneof![Just(Way::If), Just(Way::InTurn), Just(Way::ByKey), Just(Way::Chosen)];
    prop_oneof![
        1 => Just(Serial::FlatEach),
        1 => Just(Serial::TryFlatEach),
        1 => Just(Serial::FlatSpread),
        1 => Just(Serial::TryFlatSpread),
        1 => Just(Serial::Spread),
        1 => Just(Serial::Through),
        1 => (1..5usize).prop_map(Serial::Sharded),
        2 => (1..5usize).prop_map(Serial::TrySharded),
        1 => Just(Serial::ByKey),
        2 => Just(Serial::Zipped),
        2 => Just(Serial::Merged),
        3 => way.prop_map(Serial::Split),
        2 => Just(Serial::Feedback),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        3 => Just(End::TryForEach),
        1 => Just(End::ForEach),
        1 => (0..100u64).prop_map(End::Find),
        1 => (0..100u64).prop_map(End::Any),
        1 => Just(End::Fold),
        1 => Just(End::TryFold),
        1 => Just(End::Iter),
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
        // At most two stages that make several items of one: three children of three children are enough.
        let mut flat = 0;
        let mut flattens = |ops: &[Op], serial: Option<Serial>| {
            flat += ops.iter().filter(|&&op| op == Op::FlatMap || op == Op::TryFlatMap).count();
            flat += usize::from(serial.is_some_and(Serial::is_flat));
            flat > 2
        };
        for segment in &mut self.segments {
            if flattens(segment.chain.ops(), None) && segment.chain.is_flat() {
                segment.chain = Chain::Map;
            }
            if flattens(&[], Some(segment.serial)) && segment.serial.is_flat() {
                segment.serial = Serial::Each;
            }
        }
        if flattens(self.tail.ops(), None) && self.tail.is_flat() {
            self.tail = Chain::Map;
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
