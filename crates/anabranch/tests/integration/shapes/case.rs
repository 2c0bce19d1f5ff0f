//! Random shapes: steps in any order, what runs them, and what goes wrong in them.

use proptest::prelude::*;

/// A step of a stream. Each has the number of its place, beginning at 1; the source is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    // Parallel stages, with a box behind them.
    Map,
    Try,
    With,
    Filter,
    Flat,
    TryFlat,
    /// Two stages of one type before the box.
    MapTry,
    FlatTry,
    Through,
    /// Futures, of which at most so many are under way.
    MapAsync(usize),
    TryMapAsync(usize),
    FilterMapAsync(usize),
    /// A change of the error's type, there and back.
    NewError,
    Sharded(usize),
    // The order is given up.
    Unordered,
    EachUnordered,
    // Serial stages.
    Each,
    TryEach,
    Take(usize),
    Batch(usize),
    // Stages that open a domain.
    SerialFlat,
    FlatSpread,
    Chain(u64),
    Interleave(u64),
    ChunkBy,
    SortedWithin(usize),
    ReadyChunks(usize),
    Windows(usize),
    Merge,
    Feedback {
        places: usize,
        first: u64,
        flat: bool,
    },
    Needing(Need),
}

/// What items need.
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
pub const REACH: u64 = 6;

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
    /// Whether what it gives depends on the order of the items. Such a step is not put behind one that gives the order up.
    fn needs_order(self) -> bool {
        matches!(
            self,
            Step::ChunkBy | Step::Windows(_) | Step::Batch(_) | Step::Needing(_) | Step::Sharded(_)
        )
    }

    /// Whether it passes a panic on in the order of the items, behind the results before it.
    pub fn keeps_panics(self) -> bool {
        matches!(self, Step::Needing(_)) || self.is_async()
    }

    fn is_async(self) -> bool {
        matches!(self, Step::MapAsync(_) | Step::TryMapAsync(_) | Step::FilterMapAsync(_))
    }

    fn gives_order_up(self) -> bool {
        matches!(self, Step::Unordered | Step::EachUnordered)
    }

    /// Whether it makes several items of one.
    fn is_flat(self) -> bool {
        matches!(
            self,
            Step::Flat | Step::TryFlat | Step::FlatTry | Step::SerialFlat | Step::FlatSpread | Step::Merge
        )
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
    Channel(usize),
    Async,
    /// The only stream of several that are put into one as their items come.
    Select,
}

/// What runs a stream, with the number of workers or of the pool's threads.
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
    /// A search that finds nothing.
    Find,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// In a stage that cannot fail, a panic.
    Error,
    Panic,
    Cancel,
    CancelAndPanic,
}

/// Something that goes wrong when an item of the source with this number comes to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub node: usize,
    pub origin: u64,
    pub kind: Kind,
}

impl Fault {
    fn cancels(self) -> bool {
        matches!(self.kind, Kind::Cancel | Kind::CancelAndPanic)
    }

    pub fn panics(self) -> bool {
        matches!(self.kind, Kind::Panic | Kind::CancelAndPanic)
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

#[derive(Debug, Clone)]
pub struct Case {
    pub items: u64,
    pub from: From,
    pub steps: Vec<Step>,
    /// Each with the number of steps before it.
    pub settings: Vec<(usize, Setting)>,
    pub how: How,
    pub end: End,
    pub window: usize,
    /// The number of items of a claim, if it is set.
    pub burst: Option<usize>,
    pub faults: Vec<Fault>,
    pub lie: Lie,
    /// Whether the source waits before each item until the sink has what the loop would have given it by then.
    pub is_gated: bool,
    /// Calls take up to so many microseconds.
    pub delay: u64,
}

impl Case {
    /// A case with usual settings.
    pub fn of(steps: Vec<Step>, items: u64, how: How, end: End) -> Self {
        Self {
            items,
            from: From::Iter,
            steps,
            settings: Vec::new(),
            how,
            end,
            window: 32,
            burst: None,
            faults: Vec::new(),
            lie: Lie::None,
            is_gated: false,
            delay: 0,
        }
    }

    /// Whether the sink may get the items in any order. The plain loop, which takes each item to the sink, keeps it.
    pub fn is_unordered(&self) -> bool {
        let is_plain = self.how == How::Inline && !self.steps.iter().any(|step| step.is_async());
        self.steps.iter().any(|step| step.gives_order_up()) && !is_plain
    }

    /// Whether a call cancels the run.
    pub fn cancels(&self) -> bool {
        self.faults.iter().any(|fault| fault.cancels())
    }

    /// Whether a runtime is named for the futures.
    pub fn is_in_runtime(&self) -> bool {
        self.items.is_multiple_of(2)
    }

    /// Whether futures may wait for other threads. While the source or another call waits for a result behind a future, a worker
    /// must be left to poll that future.
    pub fn has_threads_for_futures(&self) -> bool {
        let waits_elsewhere = matches!(self.from, From::Channel(_) | From::Async);
        let calls_wait = self.steps.contains(&Step::Needing(Need::Chain));
        !self.is_gated || waits_elsewhere && !calls_wait
    }

    /// The steps, with one that takes every item in place of each that takes some, where the items are in no order.
    pub fn without_takes(&self) -> Vec<Step> {
        let mut steps = self.steps.clone();
        let first = steps.iter().position(|step| step.gives_order_up()).unwrap_or(steps.len());
        for step in &mut steps[first..] {
            if let Step::Take(_) = step {
                *step = Step::Unordered;
            }
        }
        steps
    }

    /// The number of the sink.
    pub fn sink(&self) -> usize {
        self.steps.len() + 1
    }

    /// The nearest case that a stream can be made of and whose results do not depend on the schedule.
    pub fn buildable(mut self) -> Self {
        let (mut flat, mut is_unordered) = (0, false);
        for step in &mut self.steps {
            is_unordered |= step.gives_order_up();
            if step.is_flat() {
                flat += 1;
                if flat > 2 {
                    *step = Step::Map;
                }
            }
            if is_unordered && step.needs_order() {
                *step = Step::Each;
            }
        }
        if matches!(self.how, How::Detached(_)) && matches!(self.from, From::Iter | From::Fn | From::Select) {
            self.from = From::Async;
        }
        let steps = &self.steps;
        self.settings.iter_mut().for_each(|(at, _)| *at %= steps.len() + 1);
        self.settings.retain(|&(at, setting)| {
            let before = at.checked_sub(1).map(|at| steps[at]);
            match setting {
                Setting::Dedicated => matches!(before, None | Some(Step::Each | Step::TryEach)),
                Setting::WindowBytes(_) => at == 0,
                Setting::Replicate(_) => matches!(before, Some(Step::Map | Step::Try | Step::With)),
                _ => true,
            }
        });
        let nodes = self.sink() + 1;
        self.faults.iter_mut().for_each(|fault| fault.node %= nodes);
        // Another thread posts the items of a channel.
        self.faults.retain(|fault| fault.node > 0 || !matches!(self.from, From::Channel(_)));
        // What comes first of a cancel and a failure depends on the schedule.
        if let Some(&cancel) = self.faults.iter().find(|fault| fault.cancels()) {
            self.faults = vec![cancel];
        }
        // What a failure drops does not come. Without an order, the items that go round again are others than the loop's.
        let goes_round = self.steps.iter().any(|step| matches!(step, Step::Feedback { .. }));
        self.is_gated &= self.faults.is_empty() && !(is_unordered && goes_round);
        // While a dedicated thread has an item, all workers may go on to the source and to calls that wait.
        let dedicates = self.settings.iter().any(|&(at, setting)| at > 0 && setting == Setting::Dedicated);
        self.is_gated &= !dedicates;
        self
    }
}

fn step() -> impl Strategy<Value = Step> {
    let need =
        prop_oneof![Just(Need::Chain), Just(Need::Star), (1..REACH / 2).prop_map(|n| Need::Far(2 * n - 1))];
    let parallel = prop_oneof![
        4 => Just(Step::Map),
        3 => Just(Step::Try),
        1 => Just(Step::With),
        1 => Just(Step::Filter),
        1 => Just(Step::Flat),
        1 => Just(Step::TryFlat),
        1 => Just(Step::MapTry),
        1 => Just(Step::FlatTry),
        1 => Just(Step::Through),
        1 => Just(Step::NewError),
        1 => (1..4usize).prop_map(Step::Sharded),
        1 => (1..9usize).prop_map(Step::MapAsync),
        2 => (1..9usize).prop_map(Step::TryMapAsync),
        1 => (1..9usize).prop_map(Step::FilterMapAsync),
    ];
    let serial = prop_oneof![
        2 => Just(Step::Each),
        2 => Just(Step::TryEach),
        1 => (0..60usize).prop_map(Step::Take),
        1 => (1..6usize).prop_map(Step::Batch),
        1 => Just(Step::Unordered),
        1 => Just(Step::EachUnordered),
    ];
    let opening = prop_oneof![
        1 => Just(Step::SerialFlat),
        1 => Just(Step::FlatSpread),
        1 => (0..9u64).prop_map(Step::Chain),
        1 => (0..70u64).prop_map(Step::Interleave),
        1 => Just(Step::ChunkBy),
        1 => (0..5usize).prop_map(Step::SortedWithin),
        1 => (1..5usize).prop_map(Step::ReadyChunks),
        1 => (1..5usize).prop_map(Step::Windows),
        1 => Just(Step::Merge),
        2 => (1..9usize, 0..9u64, any::<bool>())
            .prop_map(|(places, first, flat)| Step::Feedback { places, first, flat }),
        3 => need.prop_map(Step::Needing),
    ];
    prop_oneof![4 => parallel, 2 => serial, 3 => opening]
}

/// Any case.
pub fn cases() -> impl Strategy<Value = Case> {
    let how = prop_oneof![
        2 => Just(How::Inline),
        2 => Just(How::Threads(1)),
        6 => (2..5usize).prop_map(How::Threads),
        1 => (1..4usize).prop_map(How::Pool),
        1 => (1..4usize).prop_map(How::WithIter),
        1 => (1..4usize).prop_map(How::IntoIter),
        2 => (1..4usize).prop_map(How::Detached),
        1 => (1..4usize).prop_map(How::IntoAsync),
        1 => (1..4usize).prop_map(How::Reported),
    ];
    let from = prop_oneof![
        4 => Just(From::Iter),
        1 => Just(From::Fn),
        1 => (0..9usize).prop_map(From::Channel),
        1 => Just(From::Async),
        1 => Just(From::Select),
    ];
    let settings = prop_oneof![
        1 => Just(Vec::new()),
        1 => prop::collection::vec((0..10usize, setting()), 1..4),
    ];
    let end = prop_oneof![Just(End::ForEach), Just(End::TryForEach), Just(End::Fold), Just(End::Find)];
    let window = prop_oneof![3 => 1..6usize, 3 => 6..65usize];
    let burst = prop_oneof![3 => Just(None), 1 => (1..20usize).prop_map(Some)];
    let kind = prop_oneof![
        3 => Just(Kind::Error),
        3 => Just(Kind::Panic),
        1 => Just(Kind::Cancel),
        1 => Just(Kind::CancelAndPanic),
    ];
    let fault = (0..1000usize, prop_oneof![3 => 0..100u64, 1 => 0..4u64], kind)
        .prop_map(|(node, origin, kind)| Fault { node, origin, kind });
    let faults = prop_oneof![1 => Just(Vec::new()), 3 => prop::collection::vec(fault, 1..4)];
    let lie = prop_oneof![
        6 => Just(Lie::None),
        1 => (0..9usize).prop_map(Lie::Most),
        1 => prop_oneof![Just(200), Just(usize::MAX)].prop_map(Lie::Least),
        1 => Just(Lie::GoesOn),
    ];
    let delay = prop_oneof![2 => Just(0), 1 => 1..100u64];
    let steps = prop::collection::vec(step(), 0..7);
    let rest = (window, burst, lie, any::<bool>(), delay);
    (0..100u64, from, steps, settings, how, end, faults, rest).prop_map(
        |(items, from, steps, settings, how, end, faults, (window, burst, lie, is_gated, delay))| {
            let case =
                Case { items, from, steps, settings, how, end, window, burst, faults, lie, is_gated, delay };
            case.buildable()
        },
    )
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
