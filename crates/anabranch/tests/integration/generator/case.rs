//! Random cases: the steps of a stream, what runs it, its settings, and what goes wrong in it.

use proptest::prelude::*;

/// The number of the source among the nodes of a case.
pub const SOURCE: usize = 0;
/// The number of the sink.
pub const SINK: usize = usize::MAX;

/// A step of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    // The code of these steps runs for several items at once.
    Map,
    Try,
    /// With a state of the worker.
    With,
    TryWith,
    Inspect,
    Filter,
    FilterMap,
    TryFilterMap,
    /// Workers that differ.
    Farm,
    TryFarm,
    CountBytes,
    /// Stages that are a value.
    Through,
    /// A change of the error's type, there and back.
    NewError,
    Flat,
    TryFlat,
    /// Futures, of which at most so many are under way.
    MapAsync(usize),
    TryMapAsync(usize),
    FilterMapAsync(usize),
    TryFilterMapAsync(usize),
    /// A state for each group of items, in so many shards.
    Sharded(usize),
    TrySharded(usize),
    ByKey,
    /// Items that need the results of others.
    Needing(Need),
    /// The order is given up.
    Unordered,
    // Serial steps. Limits are numbers of items of the source, so that all ways to run agree on them.
    Each,
    TryEach,
    Option,
    TryOption,
    Take(usize),
    TakeWhile(u64),
    MapWhile(u64),
    Scan(u64),
    Enumerate,
    Zip(u64),
    Skip(usize),
    EveryNth(usize),
    Chunks(usize),
    Throttle,
    // Steps that give items new indices.
    SerialFlat,
    TrySerialFlat,
    SerialSpread,
    TrySerialSpread,
    Spread,
    Chain(u64),
    Interleave(u64),
    ChunkBy,
    SortedWithin(usize),
    ReadyChunks(usize),
    /// Windows of a size, so many items apart.
    Windows(usize, usize),
    Aggregated(usize, usize),
    WindowsByKey(usize),
    /// Windows of a length of time.
    Times(u64),
    /// Sessions with a gap.
    Sessions(u64),
    /// Items that go round until the loop lets them out.
    Feedback {
        /// Whether the stages make several items of one, or none.
        flat: bool,
        /// How many items are in the loop from the start.
        first: u64,
        places: usize,
        stages: Vec<Step>,
    },
    Fork(Way, Vec<Vec<Step>>),
}

/// How items come to branches, and from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To each of them. A result needs the item of each.
    Zip,
    /// To each of them. Each result is an item. The first branch gives it twice.
    Merge,
    /// To the one that the item chooses.
    Chosen,
    InTurn,
    /// By the hash of a key: only the first list of stages is used, for two branches.
    ByKey,
}

/// The needs of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Each needs the one before it.
    Chain,
    /// Each needs the first.
    Star,
    /// Each even one needs an odd one that comes so many items later, if the item's key says so.
    Far(u64),
}

/// How far away an item may be that another one needs.
const REACH: u64 = 6;

impl Need {
    pub fn reach(self) -> usize {
        match self {
            Need::Chain => 1,
            Need::Star => usize::MAX,
            Need::Far(_) => REACH as usize,
        }
    }

    /// The items that item `number` with `key` needs.
    pub fn of(self, number: u64, key: u64) -> Vec<u64> {
        match self {
            Need::Chain => number.checked_sub(1).into_iter().collect(),
            Need::Star if number > 0 => vec![0],
            Need::Star => Vec::new(),
            Need::Far(away) if number.is_multiple_of(2) && key.is_multiple_of(4) => vec![number + away],
            Need::Far(_) => Vec::new(),
        }
    }
}

impl Step {
    /// Tells the parallel steps that are drawn with options.
    pub fn is_parallel_with_options(&self) -> bool {
        matches!(self, Step::Map | Step::Try | Step::With | Step::TryWith)
    }

    /// Tells the serial steps that are drawn with options.
    pub fn is_serial_with_options(&self) -> bool {
        matches!(self, Step::Each | Step::TryEach)
    }

    /// The steps inside.
    fn lists(&self) -> &[Vec<Step>] {
        match self {
            Step::Fork(_, branches) => branches,
            Step::Feedback { stages, .. } => std::slice::from_ref(stages),
            _ => &[],
        }
    }

    fn lists_mut(&mut self) -> &mut [Vec<Step>] {
        match self {
            Step::Fork(_, branches) => branches,
            Step::Feedback { stages, .. } => std::slice::from_mut(stages),
            _ => &mut [],
        }
    }

    /// How many nodes it has, those of the steps inside included.
    pub fn nodes(&self) -> usize {
        1 + self.lists().iter().flatten().map(Step::nodes).sum::<usize>()
    }

    /// This step and those inside, each with its node.
    fn walk<'s>(&'s self, node: usize, visit: &mut impl FnMut(&'s Step, usize)) {
        visit(self, node);
        let mut next = node + 1;
        for step in self.lists().iter().flatten() {
            step.walk(next, visit);
            next += step.nodes();
        }
    }

    fn change(&mut self, change: &mut impl FnMut(&mut Step)) {
        change(self);
        self.lists_mut().iter_mut().flatten().for_each(|step| step.change(change));
    }

    /// Whether this step, or one inside, is as asked.
    fn has(&self, mut is_asked: impl FnMut(&Step) -> bool) -> bool {
        let mut found = false;
        self.walk(0, &mut |step, _| found |= is_asked(step));
        found
    }

    /// Whether the step calls code that can fail, and with an error.
    pub fn is_fallible(&self) -> bool {
        use Step::*;
        matches!(
            self,
            Try | TryWith
                | TryFilterMap
                | TryFarm
                | Through
                | NewError
                | TryFlat
                | TryMapAsync(_)
                | TryFilterMapAsync(_)
                | TrySharded(_)
                | Needing(_)
                | TryEach
                | TryOption
                | TrySerialFlat
                | TrySerialSpread
        )
    }

    /// Whether a fault can be planted in it.
    fn calls_code(&self) -> bool {
        use Step::*;
        !matches!(
            self,
            CountBytes
                | Unordered
                | Take(_)
                | Enumerate
                | Zip(_)
                | Skip(_)
                | EveryNth(_)
                | Throttle
                | Spread
                | Chain(_)
                | Interleave(_)
                | SortedWithin(_)
                | Feedback { .. }
                | Fork(..)
        )
    }

    /// Whether its code has a state, or it counts items. Such a step is not put behind one that gives the order up.
    fn needs_order(&self) -> bool {
        use Step::*;
        matches!(
            self,
            Sharded(_)
                | TrySharded(_)
                | ByKey
                | Needing(_)
                | TakeWhile(_)
                | MapWhile(_)
                | Scan(_)
                | Enumerate
                | Zip(_)
                | Skip(_)
                | EveryNth(_)
                | Chunks(_)
                | ChunkBy
                | Windows(..)
                | Aggregated(..)
                | WindowsByKey(_)
                | Times(_)
                | Sessions(_)
                | Fork(Way::InTurn, _)
        )
    }

    /// Whether the step passes a panic on in the order of the items, after the results before it.
    fn keeps_panics(&self) -> bool {
        matches!(self, Step::Needing(_)) || self.is_async()
    }

    fn is_async(&self) -> bool {
        matches!(
            self,
            Step::MapAsync(_) | Step::TryMapAsync(_) | Step::FilterMapAsync(_) | Step::TryFilterMapAsync(_)
        )
    }

    /// Whether the step makes several items of one.
    fn is_flat(&self) -> bool {
        use Step::*;
        matches!(
            self,
            Flat | TryFlat
                | SerialFlat
                | TrySerialFlat
                | SerialSpread
                | TrySerialSpread
                | Fork(Way::Merge, _)
        )
    }

    /// Whether several items have one index in it and behind it.
    fn makes_batches(&self) -> bool {
        matches!(self, Step::Flat | Step::TryFlat)
    }

    /// Whether the step keeps the items of a batch together. Before any other step, batches become single items.
    fn keeps_batches(&self) -> bool {
        use Step::*;
        !matches!(
            self,
            MapAsync(_)
                | TryMapAsync(_)
                | FilterMapAsync(_)
                | TryFilterMapAsync(_)
                | Sharded(_)
                | TrySharded(_)
                | ByKey
                | Needing(_)
                | Fork(..)
        ) && self.windows_opened() == 0
    }

    /// How many windows of their own the items in it and behind it have.
    fn windows_opened(&self) -> usize {
        use Step::*;
        match self {
            SerialFlat
            | TrySerialFlat
            | SerialSpread
            | TrySerialSpread
            | Spread
            | Chain(_)
            | Interleave(_)
            | ChunkBy
            | SortedWithin(_)
            | Windows(..)
            | Aggregated(..)
            | WindowsByKey(_)
            | Times(_)
            | Sessions(_)
            | Feedback { .. }
            | Unordered
            | Fork(Way::Merge, _) => 1,
            // One for the items that are issued, and one for the results in order; one for the chunks, and one for their
            // items.
            Needing(_) | MapAsync(_) | TryMapAsync(_) | FilterMapAsync(_) | TryFilterMapAsync(_)
            | ReadyChunks(_) => 2,
            _ => 0,
        }
    }

    /// Whether the step may make nothing of an item.
    fn drops(&self) -> bool {
        use Step::*;
        match self {
            Filter | FilterMap | TryFilterMap | FilterMapAsync(_) | TryFilterMapAsync(_) | Option
            | TryOption | Skip(_) | EveryNth(_) => true,
            Windows(size, step) | Aggregated(size, step) => step > size,
            Feedback { flat, .. } => *flat,
            _ => self.is_flat(),
        }
    }

    /// Whether items are in several windows, or in several branches. Only then may they be cloned.
    fn clones(&self) -> bool {
        use Step::*;
        match self {
            Windows(size, step) | Aggregated(size, step) => step != size,
            Fork(way, _) => matches!(way, Way::Zip | Way::Merge),
            _ => false,
        }
    }

    /// How many items it may have beside those in windows, because so many futures may be under way.
    fn under_way(&self) -> usize {
        match *self {
            Step::MapAsync(most)
            | Step::TryMapAsync(most)
            | Step::FilterMapAsync(most)
            | Step::TryFilterMapAsync(most) => most,
            _ => 0,
        }
    }

    /// How many items one item may stand for behind it.
    fn width(&self) -> usize {
        match *self {
            Step::Windows(size, _) | Step::Aggregated(size, _) | Step::ReadyChunks(size) => size,
            _ => 1,
        }
    }

    /// How many items it may hold back, for each that it gives. `None` if there is no limit, because all items may have one key,
    /// be in one session or go round for ever.
    fn holds(&self) -> Option<usize> {
        match *self {
            Step::Chunks(size) | Step::ReadyChunks(size) => Some(size),
            Step::Windows(size, _) | Step::Aggregated(size, _) => Some(size),
            Step::SortedWithin(window) => Some(1 + window),
            Step::Needing(Need::Chain) => Some(2),
            // Items go through windows by key in blocks, and each block is divided.
            Step::Needing(_)
            | Step::ChunkBy
            | Step::WindowsByKey(_)
            | Step::Times(_)
            | Step::Sessions(_)
            | Step::Feedback { .. } => None,
            _ => Some(1),
        }
    }
}

/// A setting of a stream. None of them changes what the sink gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    Dedicated,
    Replicate(usize),
    Spin,
    Affinity,
    Monitor,
    Watchdog,
    OnProgress,
    Names,
    Costs,
    Passes,
    WithPlan,
    WindowBytes(u64),
    WorkersFrom(usize),
    /// Looks at the plan before the run.
    Plan,
    Trace,
}

/// How a stream gets its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    Iter,
    Fn,
    /// A source that never waits, so that its items travel in blocks.
    Blocks,
    Channel(usize),
    Async,
    /// The only stream of several that are put into one as their items come.
    Select,
}

/// The executor of a stream, with the number of workers or of the pool's threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Inline,
    Threads(usize),
    Pool(usize),
    WithIter(usize),
    /// By [`IntoIterator`], on a thread of its own.
    IntoIter(usize),
    /// The same with a pool's threads.
    Detached(usize),
    /// As an asynchronous stream that a thread waits for.
    IntoAsync(usize),
    /// With a report.
    Reported(usize),
}

/// The end of a stream. Iterators have none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    ForEach,
    TryForEach,
    Fold,
    TryFold,
    /// The first item from this one of the source on.
    Find(u64),
    Any(u64),
    All(u64),
    Collect,
    Summary(Summary),
}

/// One value that all items make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summary {
    Count,
    Sum,
    Min,
    Max,
    Reduce,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// In a step that cannot fail, a panic.
    Error,
    Panic,
    Cancel,
    CancelAndPanic,
    /// The source is not asked again. The items that it has given go on.
    Drain,
}

/// Something that goes wrong at a node: when it gets the item of the source with this number or, with `child`, such a child of
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub node: usize,
    pub origin: u64,
    pub child: Option<u64>,
    pub kind: Kind,
}

impl Fault {
    fn cancels(&self) -> bool {
        matches!(self.kind, Kind::Cancel | Kind::CancelAndPanic)
    }
}

/// A promise of an iterator that the source breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    None,
    /// Its `size_hint` says that it has at most so many items.
    Most(usize),
    /// Its `size_hint` says that it has at least so many items.
    Least(usize),
    /// It has items after its first `None`.
    GoesOn,
}

/// How long calls take. It changes the order in which threads act, and must not change the results.
#[derive(Debug, Clone, Copy)]
pub enum Delay {
    None,
    Yield,
    First { micros: u64 },
    Now { one_in: u64, micros: u64 },
    Work { rounds: u64 },
    Up { micros: u64 },
    At { node: usize, micros: u64 },
}

#[derive(Debug, Clone)]
pub struct Case {
    pub items: u64,
    pub from: From,
    pub lie: Lie,
    pub steps: Vec<Step>,
    /// Each with the number of steps before it.
    pub settings: Vec<(usize, Setting)>,
    pub how: How,
    pub end: End,
    pub window: usize,
    /// The number of items of a claim, if it is set.
    pub burst: Option<usize>,
    pub faults: Vec<Fault>,
    pub delay: Delay,
    /// Whether the source waits before each item until the sink has what the loop would have given it by then (C10).
    pub is_gated: bool,
}

impl Case {
    /// A case with usual settings.
    pub fn of(steps: Vec<Step>, items: u64, how: How) -> Self {
        Self {
            items,
            from: From::Iter,
            lie: Lie::None,
            steps,
            settings: Vec::new(),
            how,
            end: End::TryForEach,
            window: 32,
            burst: None,
            faults: Vec::new(),
            delay: Delay::None,
            is_gated: false,
        }
    }

    /// How many nodes have numbers, the source included and the sink not.
    pub fn count_nodes(&self) -> usize {
        1 + self.steps.iter().map(Step::nodes).sum::<usize>()
    }

    /// The node of each step of the outer line.
    pub fn places(&self) -> Vec<usize> {
        let nodes = self.steps.iter().scan(1, |next, step| {
            let node = *next;
            *next += step.nodes();
            Some(node)
        });
        nodes.collect()
    }

    pub fn walk<'c>(&'c self, mut visit: impl FnMut(&'c Step, usize)) {
        self.steps.iter().zip(self.places()).for_each(|(step, node)| step.walk(node, &mut visit));
    }

    fn has(&self, mut is_asked: impl FnMut(&Step) -> bool) -> bool {
        self.steps.iter().any(|step| step.has(&mut is_asked))
    }

    /// Every node in which something can go wrong.
    pub fn nodes(&self) -> Vec<usize> {
        let mut nodes = vec![SOURCE];
        self.walk(|step, node| {
            if step.calls_code() {
                nodes.push(node);
            }
        });
        nodes.push(SINK);
        nodes
    }

    /// The settings at a place, and the options of the source (0) or of the step before it.
    pub fn settings_at(&self, place: usize) -> impl Iterator<Item = Setting> {
        self.settings.iter().filter(move |(at, _)| *at == place).map(|(_, setting)| *setting)
    }

    /// The node of the last step of the outer line that takes no item: the steps before are not called. 0 if there is none.
    pub fn closed(&self) -> usize {
        let last = self.steps.iter().zip(self.places()).rfind(|(step, _)| **step == Step::Take(0));
        last.map_or(0, |(_, node)| node)
    }

    /// Whether the sink may get the items in any order. The plain loop, which takes each item to the sink, keeps it.
    pub fn is_unordered(&self) -> bool {
        let has_workers = self.settings.iter().any(|(_, setting)| matches!(setting, Setting::WorkersFrom(_)));
        let is_plain = self.how == How::Inline && !self.is_async() && !has_workers;
        self.has(|step| *step == Step::Unordered) && !is_plain
    }

    /// Whether a call cancels the run.
    pub fn cancels(&self) -> bool {
        self.faults.iter().any(Fault::cancels)
    }

    /// Whether a call drains the run.
    pub fn drains(&self) -> bool {
        self.faults.iter().any(|fault| fault.kind == Kind::Drain)
    }

    /// Whether the step of a node passes a panic on in order. So does a stream that is put into another one.
    pub fn keeps_panics(&self, at: usize) -> bool {
        let mut keeps = at == SOURCE && self.from == From::Select;
        self.walk(|step, node| keeps |= node == at && step.keeps_panics());
        keeps
    }

    /// Whether futures are under way while the source is asked.
    pub fn is_async(&self) -> bool {
        self.has(Step::is_async)
    }

    /// Whether a step takes some items.
    pub fn takes(&self) -> bool {
        self.has(|step| matches!(step, Step::Take(_)))
    }

    /// Whether a runtime is named for the futures.
    pub fn is_in_runtime(&self) -> bool {
        self.items.is_multiple_of(2)
    }

    /// Whether futures may wait for other threads. While the source or another call waits for a result behind a future, a worker
    /// must be left to poll that future.
    pub fn has_threads_for_futures(&self) -> bool {
        let waits_elsewhere = matches!(self.from, From::Channel(_) | From::Async);
        let calls_wait = self.has(|step| *step == Step::Needing(Need::Chain));
        !self.is_gated || waits_elsewhere && !calls_wait
    }

    /// Whether items may be cloned.
    pub fn clones(&self) -> bool {
        self.has(Step::clones)
    }

    /// Whether the end takes the items from an iterator.
    pub fn has_iterator(&self) -> bool {
        matches!(self.how, How::WithIter(_) | How::IntoIter(_) | How::Detached(_) | How::IntoAsync(_))
    }

    /// Whether the end may fail.
    pub fn has_fallible_end(&self) -> bool {
        matches!(self.end, End::TryForEach | End::TryFold)
    }

    /// How many threads run it, at most.
    pub fn threads(&self) -> usize {
        match self.how {
            How::Inline => 1,
            How::Threads(n) | How::WithIter(n) | How::IntoIter(n) | How::IntoAsync(n) | How::Reported(n) => n,
            How::Detached(n) | How::Pool(n) => n,
        }
    }

    /// This case without faults. If the items are in no order, no step takes some of them.
    pub fn whole(&self) -> Self {
        let mut case = Self { faults: Vec::new(), ..self.clone() };
        let first = case.steps.iter().position(|step| *step == Step::Unordered).unwrap_or(case.steps.len());
        let all = &mut |step: &mut Step| {
            if let Step::Take(_) = step {
                *step = Step::CountBytes;
            }
        };
        case.steps[first..].iter_mut().for_each(|step| step.change(all));
        case
    }

    /// The fault that was planted for an item at a node. `child` says that the item is being made of another one.
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

    /// Whether items may be dropped before a step that opens a window, or in it. Then that window holds only those that are
    /// left, and the source may have given any number of others.
    pub fn drops_before_a_window(&self) -> bool {
        let (mut is_batched, mut drops) = (self.from == From::Blocks, false);
        self.steps.iter().any(|step| {
            is_batched |= step.makes_batches();
            drops |= step.has(Step::drops);
            drops && (step.windows_opened() > 0 || (is_batched && !step.keeps_batches()))
        })
    }

    /// Whether a step may make nothing of an item.
    pub fn drops(&self) -> bool {
        self.has(Step::drops)
    }

    /// How many items of the source one item at the end may stand for. `None` if there is no limit.
    pub fn gathered(&self) -> Option<usize> {
        self.steps.iter().map(Step::holds).product()
    }

    /// How many items of the source may be in flight at once. `None` if there is no limit, or it is not known.
    pub fn bound(&self) -> Option<usize> {
        let product = self.gathered()?;
        // Other sources hold items of their own, and settings change the window and the workers.
        if !matches!(self.from, From::Iter | From::Fn | From::Blocks | From::Async)
            || !self.settings.is_empty()
        {
            return None;
        }
        let mut is_batched = self.from == From::Blocks;
        let (mut windows, mut in_windows) = (1, self.window);
        // How many items each index of a window that opens behind a step of chunks may hold: a chunk is one item there.
        let mut in_a_chunk = 1;
        for step in &self.steps {
            is_batched |= step.makes_batches();
            // Before such a step, batches become single items in a window of their own.
            let before = usize::from(is_batched && !step.keeps_batches());
            windows += before + step.windows_opened();
            in_windows += before * self.window * in_a_chunk;
            if let Step::Chunks(size) = step {
                in_a_chunk *= size;
            }
            in_windows += (step.windows_opened() * self.window + step.under_way()) * in_a_chunk;
        }
        // Items that leave one window for the next may be in neither, one at a time, or one of each thread without an order.
        let unordered = if self.is_unordered() { self.threads() } else { 0 };
        let between = (windows - 1 + unordered) * in_a_chunk;
        // Items that a step keeps, and those that it has just given, count in addition.
        let held = if product == 1 { 0 } else { 2 * product * self.steps.len() };
        // The items behind windows are as many together.
        let widths: usize = self.steps.iter().map(Step::width).product();
        // Up to half a window of results waits for the reader of an iterator, which has one more. Each may be a chunk.
        let read = if self.has_iterator() { (1 + self.window / 2) * product } else { 0 };
        // The taker of the items of a detached stream has a window of its own.
        let detached =
            if matches!(self.how, How::WithIter(_)) || !self.has_iterator() { 0 } else { self.window };
        Some(in_windows * widths + between + held + read + detached * product)
    }

    /// The case with a step that ends the stream at an item, and one that gives the order up anywhere behind it. The items that the
    /// first has passed on are finished.
    pub fn leaving_without_order(mut self) -> Self {
        let (first, second) = (self.items as usize, self.window);
        let at = first % (self.steps.len() + 1);
        self.steps.insert(at, Step::TakeWhile(self.items / 2));
        let behind = at + 1 + second % (self.steps.len() - at);
        self.steps.insert(behind, Step::Unordered);
        self
    }

    /// The nearest case that a stream can be made of and whose results do not depend on the schedule.
    pub fn buildable(mut self) -> Self {
        let (mut flat, mut is_unordered) = (0, false);
        for step in &mut self.steps {
            is_unordered |= *step == Step::Unordered;
            step.change(&mut |step| {
                if let Step::Fork(Way::ByKey, branches) = step {
                    branches.truncate(1);
                    branches.iter_mut().flatten().for_each(|step| step.change(&mut stateless));
                }
                flat += usize::from(step.is_flat());
                if step.is_flat() && flat > 2 {
                    *step = Step::Map;
                }
                if is_unordered && step.needs_order() {
                    *step = Step::Each;
                }
            });
        }
        if self.has_iterator() || matches!(self.how, How::Reported(_)) {
            self.end = End::ForEach;
        }
        if is_unordered && matches!(self.end, End::Find(_) | End::Any(_) | End::All(_)) {
            self.end = End::Find(u64::MAX);
        }
        if matches!(self.how, How::Detached(_))
            && matches!(self.from, From::Iter | From::Fn | From::Blocks | From::Select)
        {
            self.from = From::Async;
        }
        let steps = &self.steps;
        self.settings.iter_mut().for_each(|(at, _)| *at %= steps.len() + 1);
        self.settings.retain(|&(at, setting)| {
            let before = at.checked_sub(1).map(|at| &steps[at]);
            match setting {
                Setting::Dedicated => match before {
                    None => matches!(self.from, From::Iter | From::Fn | From::Blocks),
                    Some(step) => step.is_serial_with_options(),
                },
                Setting::WindowBytes(_) => at == 0 && self.from != From::Select,
                Setting::Replicate(_) => before.is_some_and(Step::is_parallel_with_options),
                _ => true,
            }
        });
        // Faults of nodes that are not there are planted in others.
        let nodes = self.nodes();
        let place = |node: usize| if nodes.contains(&node) { node } else { nodes[node % nodes.len()] };
        self.faults.iter_mut().for_each(|fault| fault.node = place(fault.node));
        if let Delay::At { node, .. } = &mut self.delay {
            *node = place(*node);
        }
        // Another thread sends the items of a channel.
        self.faults.retain(|fault| fault.node > 0 || !matches!(self.from, From::Channel(_)));
        // Whether a stop or a failure is first depends on the schedule.
        if let Some(&stop) = self.faults.iter().find(|fault| fault.cancels() || fault.kind == Kind::Drain) {
            self.faults = vec![stop];
        }
        // Items that a failure drops do not arrive. Without an order, the items that go round again are others than the loop's.
        let goes_round = self.has(|step| matches!(step, Step::Feedback { .. }));
        self.is_gated &= self.faults.is_empty() && !(is_unordered && goes_round) && self.from != From::Blocks;
        // While a dedicated thread has an item, all workers may go on to the source and to calls that wait.
        let dedicates = self.settings.iter().any(|&(at, setting)| at > 0 && setting == Setting::Dedicated);
        self.is_gated &= !dedicates;
        self
    }
}

/// Puts a step without a state in the place of one that has one.
fn stateless(step: &mut Step) {
    use Step::*;
    if !matches!(
        step,
        Map | Try
            | With
            | TryWith
            | Inspect
            | Filter
            | FilterMap
            | TryFilterMap
            | CountBytes
            | Through
            | NewError
    ) {
        *step = Try;
    }
}

/// Steps that give at most one item for each, and no new indices: they may be in branches and in loops.
fn narrow() -> impl Strategy<Value = Step> {
    let parallel = prop_oneof![
        4 => Just(Step::Map),
        3 => Just(Step::Try),
        1 => Just(Step::With),
        1 => Just(Step::TryWith),
        1 => Just(Step::Inspect),
        1 => Just(Step::Filter),
        1 => Just(Step::FilterMap),
        1 => Just(Step::TryFilterMap),
        1 => Just(Step::Farm),
        1 => Just(Step::TryFarm),
        1 => Just(Step::CountBytes),
        1 => Just(Step::Through),
        1 => Just(Step::NewError),
    ];
    let serial = prop_oneof![
        3 => Just(Step::Each),
        3 => Just(Step::TryEach),
        2 => Just(Step::Option),
        1 => Just(Step::TryOption),
        2 => (1..80usize).prop_map(Step::Take),
        1 => Just(Step::Take(0)),
        1 => (0..120u64).prop_map(Step::TakeWhile),
        1 => (0..120u64).prop_map(Step::MapWhile),
        1 => (0..120u64).prop_map(Step::Scan),
        1 => Just(Step::Enumerate),
        1 => (0..120u64).prop_map(Step::Zip),
        1 => (0..20usize).prop_map(Step::Skip),
        1 => (1..5usize).prop_map(Step::EveryNth),
        1 => Just(Step::Throttle),
    ];
    prop_oneof![1 => parallel, 1 => serial]
}

/// Steps that may be in branches and in loops, with branches inside that are at most so deep.
fn inner(depth: u32) -> BoxedStrategy<Vec<Step>> {
    let step = match depth.checked_sub(1) {
        None => narrow().boxed(),
        Some(below) => {
            let way = prop_oneof![Just(Way::Zip), Just(Way::Chosen), Just(Way::InTurn), Just(Way::ByKey)];
            prop_oneof![5 => narrow(), 1 => fork(way, below)].boxed()
        }
    };
    prop::collection::vec(step, 0..4).boxed()
}

fn fork(way: impl Strategy<Value = Way>, depth: u32) -> impl Strategy<Value = Step> {
    (way, prop::collection::vec(inner(depth), 1..4)).prop_map(|(way, branches)| Step::Fork(way, branches))
}

fn step() -> impl Strategy<Value = Step> {
    let need =
        prop_oneof![Just(Need::Chain), Just(Need::Star), (1..REACH / 2).prop_map(|n| Need::Far(2 * n - 1))];
    let parallel = prop_oneof![
        1 => Just(Step::Flat),
        1 => Just(Step::TryFlat),
        1 => (1..9usize).prop_map(Step::MapAsync),
        2 => (1..9usize).prop_map(Step::TryMapAsync),
        1 => (1..9usize).prop_map(Step::FilterMapAsync),
        1 => (1..9usize).prop_map(Step::TryFilterMapAsync),
        1 => (1..5usize).prop_map(Step::Sharded),
        2 => (1..5usize).prop_map(Step::TrySharded),
        1 => Just(Step::ByKey),
        3 => need.prop_map(Step::Needing),
        1 => Just(Step::Unordered),
    ];
    let serial = prop_oneof![
        3 => (1..6usize).prop_map(Step::Chunks),
        1 => Just(Step::SerialFlat),
        1 => Just(Step::TrySerialFlat),
        1 => Just(Step::SerialSpread),
        1 => Just(Step::TrySerialSpread),
        1 => Just(Step::Spread),
        1 => (0..9u64).prop_map(Step::Chain),
        1 => (0..70u64).prop_map(Step::Interleave),
        1 => Just(Step::ChunkBy),
        2 => (0..6usize).prop_map(Step::SortedWithin),
        1 => (1..6usize).prop_map(Step::ReadyChunks),
    ];
    let windows = prop_oneof![
        1 => (1..6usize).prop_map(|size| Step::Windows(size, size)),
        1 => (1..6usize, 1..6usize).prop_map(|(size, step)| Step::Windows(size, step)),
        1 => (1..6usize, 1..6usize).prop_map(|(size, step)| Step::Aggregated(size, step)),
        1 => (1..6usize).prop_map(Step::WindowsByKey),
        1 => (1..20u64).prop_map(Step::Times),
        1 => (1..8u64).prop_map(Step::Sessions),
    ];
    let way = prop_oneof![
        2 => Just(Way::Zip),
        2 => Just(Way::Merge),
        1 => Just(Way::Chosen),
        1 => Just(Way::InTurn),
        1 => Just(Way::ByKey),
    ];
    prop_oneof![6 => narrow(), 3 => parallel, 3 => serial, 1 => windows, 1 => fork(way, 1), 2 => feedback()]
}

/// A loop. Its places may be so many that their numbers come to the end of their type.
pub fn feedback() -> impl Strategy<Value = Step> {
    let places = prop_oneof![8 => 1..12usize, 1 => usize::MAX - 3..usize::MAX];
    let parts = (any::<bool>(), 0..9u64, places, inner(1));
    parts.prop_map(|(flat, first, places, stages)| Step::Feedback { flat, first, places, stages })
}

fn setting() -> impl Strategy<Value = Setting> {
    prop_oneof![
        3 => Just(Setting::Dedicated),
        2 => (1..4usize).prop_map(Setting::Replicate),
        1 => Just(Setting::Spin),
        1 => Just(Setting::Affinity),
        1 => Just(Setting::Monitor),
        1 => Just(Setting::Watchdog),
        1 => Just(Setting::OnProgress),
        1 => Just(Setting::Names),
        1 => Just(Setting::Costs),
        1 => Just(Setting::Passes),
        1 => Just(Setting::WithPlan),
        2 => (1..40u64).prop_map(Setting::WindowBytes),
        1 => (1..5usize).prop_map(Setting::WorkersFrom),
        1 => Just(Setting::Plan),
        1 => Just(Setting::Trace),
    ]
}

fn end() -> impl Strategy<Value = End> {
    let summary = prop_oneof![
        Just(Summary::Count),
        Just(Summary::Sum),
        Just(Summary::Min),
        Just(Summary::Max),
        Just(Summary::Reduce),
    ];
    prop_oneof![
        4 => Just(End::TryForEach),
        2 => Just(End::ForEach),
        1 => Just(End::Fold),
        2 => Just(End::TryFold),
        1 => (0..200u64).prop_map(End::Find),
        1 => (0..200u64).prop_map(End::Any),
        1 => (0..200u64).prop_map(End::All),
        1 => Just(End::Collect),
        2 => summary.prop_map(End::Summary),
    ]
}

fn delay() -> impl Strategy<Value = Delay> {
    prop_oneof![
        4 => Just(Delay::None),
        2 => Just(Delay::Yield),
        1 => (10..3_000u64).prop_map(|micros| Delay::First { micros }),
        2 => (5..40u64, 1..300u64).prop_map(|(one_in, micros)| Delay::Now { one_in, micros }),
        2 => (1..20_000u64).prop_map(|rounds| Delay::Work { rounds }),
        1 => (1..30u64).prop_map(|micros| Delay::Up { micros }),
        1 => (1000..2000usize, 1..60u64).prop_map(|(node, micros)| Delay::At { node, micros }),
    ]
}

/// Faults anywhere: [`Case::buildable`] finds a node of the case for each.
pub fn faults(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Fault>> {
    let kind = prop_oneof![
        4 => Just(Kind::Error),
        4 => Just(Kind::Panic),
        1 => Just(Kind::Cancel),
        1 => Just(Kind::CancelAndPanic),
        1 => Just(Kind::Drain),
    ];
    let origin = prop_oneof![3 => 0..100u64, 1 => 0..4u64];
    let child = prop_oneof![4 => Just(None), 1 => (0..3u64).prop_map(Some)];
    let parts = (1000..2000usize, origin, child, kind);
    let fault = parts.prop_map(|(node, origin, child, kind)| Fault { node, origin, child, kind });
    prop::collection::vec(fault, count)
}

/// Any case. The window is 1 to 64 items, and there are 1 to 9 workers.
pub fn cases() -> impl Strategy<Value = Case> {
    let how = prop_oneof![
        4 => Just(How::Inline),
        2 => Just(How::Threads(1)),
        10 => (2..10usize).prop_map(How::Threads),
        2 => (1..4usize).prop_map(How::Pool),
        2 => (1..4usize).prop_map(How::WithIter),
        1 => (1..4usize).prop_map(How::IntoIter),
        3 => (1..4usize).prop_map(How::Detached),
        1 => (1..4usize).prop_map(How::IntoAsync),
        1 => (1..4usize).prop_map(How::Reported),
    ];
    let from = prop_oneof![
        6 => Just(From::Iter),
        1 => Just(From::Fn),
        2 => Just(From::Blocks),
        1 => (0..9usize).prop_map(From::Channel),
        1 => Just(From::Async),
        1 => Just(From::Select),
    ];
    let lie = prop_oneof![
        4 => Just(Lie::None),
        1 => (0..9usize).prop_map(Lie::Most),
        1 => (0..200usize).prop_map(Lie::Least),
        1 => Just(Lie::GoesOn),
    ];
    let settings = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec((0..10usize, setting()), 1..4),
    ];
    let window = prop_oneof![3 => 1..6usize, 3 => 6..65usize];
    let burst = prop_oneof![2 => Just(None), 1 => (1..20usize).prop_map(Some)];
    let faults = prop_oneof![1 => Just(Vec::new()), 3 => faults(1..4)];
    let source = (0..130u64, from, lie);
    let steps = prop::collection::vec(step(), 0..8);
    let run = (how, window, burst, settings, end());
    (source, steps, run, faults, delay(), any::<bool>()).prop_map(
        |((items, from, lie), steps, (how, window, burst, settings, end), faults, delay, is_gated)| {
            let case =
                Case { items, from, lie, steps, settings, how, end, window, burst, faults, delay, is_gated };
            case.buildable()
        },
    )
}
