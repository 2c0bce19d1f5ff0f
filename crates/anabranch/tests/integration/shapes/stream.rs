//! A random shape as a stream of the crate.

use std::collections::HashMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use anabranch::plan::{Passes, Wait};
use anabranch::{
    CancelToken, CountWindows, Lap, Monitor, Pipeline, Pool, Shards, Stream, TryStream, Watch, Workers,
};

use super::case::{Case, End, From, How, Kind, Lie, Need, Setting, Step};
use super::model::{Ended, INSIDE, Loop, OTHERS, children, filtered, goes_round, group, merged};
use futures::StreamExt;
use futures::executor::block_on_stream;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::contract_support::watchdog;
use crate::contract_support::world::{Bomb, Planted, UNMET, mix};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    pub key: u64,
    /// The number of the item of the source that it was made of.
    pub origin: u64,
}

impl Item {
    pub fn of_source(origin: u64) -> Self {
        Self { key: mix(origin, 0), origin }
    }

    /// An item that is in a loop from the start.
    pub fn inside(number: u64) -> Self {
        Self::of_source(INSIDE + number)
    }

    /// An item that is chained or interleaved.
    pub fn other(number: u64) -> Self {
        Self::of_source(OTHERS + number)
    }

    pub fn marked(self, mark: usize) -> Self {
        Self { key: mix(self.key, mark as u64), ..self }
    }
}

/// An error under another name.
struct Renamed(Planted);

impl std::convert::From<Planted> for Renamed {
    fn from(planted: Planted) -> Self {
        Self(planted)
    }
}

/// What a run saw.
#[derive(Debug)]
pub struct Seen {
    pub delivered: Vec<u64>,
    pub ended: Ended,
    pub violations: Vec<String>,
}

/// What the code of a run shares.
struct World {
    case: Case,
    /// How many items the sink has when the source is asked, by the loop.
    before: Vec<usize>,
    /// The same when a call that needs results begins.
    calls: HashMap<(usize, u64), usize>,
    delivered: Mutex<Vec<u64>>,
    count: AtomicUsize,
    token: CancelToken,
    is_cancelled: AtomicBool,
    /// How many calls began after the run was cancelled.
    after: AtomicUsize,
    /// Whether the source has waited in vain. Then it does not wait again.
    is_late: AtomicBool,
    violations: Mutex<Vec<String>>,
}

type World_ = &'static World;
type Tried = Result<Item, Planted>;
type Line = TryStream<'static, Item, Planted>;

impl World {
    fn violation(&self, what: String) {
        self.violations.lock().unwrap().push(what);
    }

    fn try_visit(&self, node: usize, item: Item) -> Result<(), Planted> {
        // The token does not stop the stream of which another one takes the items. It ends with that one.
        let is_of_run = node > 0 || self.case.from != From::Select;
        if is_of_run && self.is_cancelled.load(Ordering::SeqCst) {
            self.after.fetch_add(1, Ordering::SeqCst);
        }
        if self.case.delay > 0 {
            std::thread::sleep(Duration::from_micros(mix(item.key, node as u64) % self.case.delay));
        }
        let planted = || Planted { node, origin: item.origin, path: 0, bomb: Bomb::armed() };
        match self.case.fault(node, item.origin) {
            None => Ok(()),
            Some(Kind::Error) => Err(planted()),
            Some(Kind::Panic) => panic_any(planted()),
            Some(kind) => {
                self.token.cancel();
                self.is_cancelled.store(true, Ordering::SeqCst);
                if kind == Kind::CancelAndPanic { panic_any(planted()) } else { Ok(()) }
            }
        }
    }

    fn visit(&self, node: usize, item: Item) {
        if let Err(planted) = self.try_visit(node, item) {
            panic_any(planted);
        }
    }

    fn deliver(&self, item: Item) -> Result<(), Planted> {
        self.delivered.lock().unwrap().push(item.key);
        self.count.fetch_add(1, Ordering::SeqCst);
        self.try_visit(self.case.sink(), item)
    }

    fn deliver_surely(&self, item: Item) {
        self.deliver(item).unwrap_or_else(|planted| panic_any(planted));
    }

    /// Whether the sink has so many items, or nothing is to wait for it.
    fn has_come(&self, before: Option<usize>) -> bool {
        let waits = self.case.is_gated && !self.is_late.load(Ordering::Relaxed);
        !waits || before.is_none_or(|before| self.count.load(Ordering::SeqCst) >= before)
    }

    /// Waits until the sink has what the loop would have delivered before `what` happened.
    fn pass_gate(&self, before: Option<usize>, what: &str) {
        if !watchdog::comes_true(watchdog::LIMIT / 12, || self.has_come(before)) {
            self.is_late.store(true, Ordering::Relaxed);
            let came = self.count.load(Ordering::SeqCst);
            self.violation(format!("{what} waits: the sink has {came} items, the loop's {before:?}"));
        }
    }

    /// How many items the sink has when the loop asks its source for the item `number`.
    fn before(&self, number: u64) -> Option<usize> {
        self.before.get(number as usize).copied()
    }
}

/// The source of a run.
struct Source {
    world: World_,
    next: u64,
    is_over: bool,
}

impl Iterator for Source {
    type Item = Tried;

    fn next(&mut self) -> Option<Tried> {
        let World { case, .. } = self.world;
        if self.is_over {
            self.world.violation("the source was asked after its end or its failure".into());
        }
        self.world.pass_gate(self.world.before(self.next), "the source");
        let item = Item::of_source(self.next);
        self.next += 1;
        if item.origin == case.items {
            self.is_over = true;
            return None;
        }
        if item.origin > case.items && case.lie != Lie::GoesOn {
            return None;
        }
        let visited = self.world.try_visit(0, item);
        self.is_over = visited.is_err();
        Some(visited.map(|()| item))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.world.case.lie {
            Lie::None | Lie::GoesOn => (0, None),
            Lie::Most(most) => (0, Some(most)),
            Lie::Least(least) => (least, None),
        }
    }
}

/// The same as an asynchronous stream. It is pending until it may be asked, and now and then besides.
struct Hesitant {
    source: Source,
    polls: u32,
}

impl futures::Stream for Hesitant {
    type Item = Tried;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Tried>> {
        let (world, number) = (self.source.world, self.source.next);
        self.polls += 1;
        let waker = context.waker().clone();
        let before = world.before(number);
        if !world.has_come(before) || self.polls % 16 == 11 {
            std::thread::spawn(move || {
                world.pass_gate(before, "the asynchronous source");
                waker.wake();
            });
        } else if self.polls % 16 == 5 {
            waker.wake();
        } else {
            return Poll::Ready(self.source.next());
        }
        Poll::Pending
    }
}

fn map(world: World_, node: usize) -> impl Fn(Item) -> Item + Clone + Send + Sync {
    move |item| {
        world.visit(node, item);
        item.marked(node)
    }
}

fn try_map(world: World_, node: usize) -> impl Fn(Item) -> Tried + Clone + Send + Sync {
    move |item| world.try_visit(node, item).map(|()| item.marked(node))
}

fn flat(world: World_, node: usize) -> impl Fn(Item) -> Vec<Item> + Clone + Send + Sync {
    let f = map(world, node);
    move |item| {
        let parent = f(item);
        (0..children(item.key)).map(|child| parent.marked(child as usize)).collect()
    }
}

/// Calls `f` after a number of polls, which depends on the item. Between them, the future wakes itself or another thread wakes it.
fn later<R>(world: World_, item: Item, f: impl FnOnce() -> R + Send) -> impl Future<Output = R> + Send {
    let (mut polls, mut f) = (mix(item.key, 11) % 4, Some(f));
    let waits = world.case.has_threads_for_futures();
    std::future::poll_fn(move |context| {
        if Handle::try_current().is_ok() != world.case.is_in_runtime() {
            world.violation("a future is not polled in the runtime that is named".into());
        }
        let Some(left) = polls.checked_sub(1) else {
            return Poll::Ready(f.take().expect("a future that is ready once")());
        };
        polls = left;
        let waker = context.waker().clone();
        if waits && mix(item.key, left).is_multiple_of(3) {
            std::thread::spawn(move || waker.wake());
        } else {
            waker.wake();
        }
        Poll::Pending
    })
}

/// Adds a step.
fn add(line: Line, world: World_, at: usize) -> Line {
    let node = at + 1;
    let (f, tries) = (map(world, node), try_map(world, node));
    let meet = move |item: Item| {
        world.visit(node, item);
        item
    };
    match world.case.steps[at] {
        Step::Map => line.map(f),
        Step::Try => line.try_map(tries),
        Step::With => line.map_with(|| (), move |(), item| f(item)),
        Step::Filter => {
            let keeps = move |item: &Item| {
                world.visit(node, *item);
                filtered(item.key)
            };
            line.filter(keeps)
        }
        Step::Flat => line.flat_map(flat(world, node)),
        Step::TryFlat => {
            let f = move |item: Item| match tries(item) {
                Err(planted) => vec![Err(planted)],
                Ok(parent) => {
                    (0..children(item.key)).map(|child| Ok(parent.marked(child as usize))).collect()
                }
            };
            line.try_flat_map(f)
        }
        Step::MapTry => line.map(move |item| item.marked(node)).try_map(move |item| {
            // The fault is planted for the item as it came, and its number has not changed.
            tries(item)
        }),
        Step::FlatTry => {
            let split = |item: Item| (0..children(item.key)).map(move |child| item.marked(child as usize));
            line.flat_map(split).try_map(tries)
        }
        Step::Through => {
            let stages = Pipeline::new(move |line: Line| line.map(map(world, node)));
            line.through(&stages)
        }
        Step::MapAsync(most) => {
            line.map_async(most, move |item| later(world, item, move || map(world, node)(item)))
        }
        Step::TryMapAsync(most) => {
            line.try_map_async(most, move |item| later(world, item, move || try_map(world, node)(item)))
        }
        Step::FilterMapAsync(most) => line.filter_map_async(most, move |item| {
            later(world, item, move || {
                world.visit(node, item);
                filtered(item.key).then_some(item)
            })
        }),
        Step::NewError => {
            let renamed = line.map_err(Renamed).try_map(move |item| Ok(tries(item)?));
            renamed.map_err(|Renamed(planted)| planted)
        }
        Step::Sharded(shards) => {
            let add = move |sums: &mut [u64; 3], item: Item| {
                world.visit(node, item);
                let sum = &mut sums[group(item.key) as usize];
                *sum = mix(*sum, item.key);
                Item { key: *sum, ..item }
            };
            let shards = Shards::by_key(shards, |item: &Item| group(item.key));
            line.map_sharded(shards, || [0; 3], add)
        }
        Step::Unordered => line.unordered(),
        Step::EachUnordered => line.unordered().serial(f),
        Step::Each => line.serial(f),
        Step::TryEach => line.try_serial(tries),
        Step::Take(most) => line.take(most),
        Step::Batch(size) => line.chunks(size).serial(move |items| meet(merged(&items))),
        Step::SerialFlat => line.serial_flat_map(flat(world, node)),
        Step::FlatSpread => line.flat_map(flat(world, node)).spread(),
        Step::Chain(most) => line.chain((0..most).map(Item::other)),
        Step::Interleave(most) => line.interleave((0..most).map(Item::other)),
        Step::ChunkBy => line.chunk_by(|item| group(item.key)).serial(move |(_, items)| meet(merged(&items))),
        Step::SortedWithin(window) => line.sorted_within_by_key(window, |item| item.key),
        Step::ReadyChunks(most) => line.ready_chunks(most).flatten().spread().serial(f),
        Step::Windows(size) => {
            let windows = line.windows(CountWindows::tumbling(size));
            windows.serial(move |window| meet(merged(&window.value)))
        }
        Step::Merge => line
            .broadcast()
            .branch(|items| items.try_map(tries))
            .branch(|items| items.map(move |item: Item| item.marked(node).marked(node)))
            .merge(),
        Step::Feedback { places, first, flat } => {
            let first = (0..first).map(Item::inside);
            let lap = |item: Item| if goes_round(item.key) { Lap::Again(item) } else { Lap::Done(item) };
            let laps = |item: Item| {
                let again = goes_round(item.key).then_some(Lap::Again(item));
                [Some(Lap::Done(item)), again].into_iter().flatten()
            };
            if flat {
                line.feedback_from(first, places, |items| items.try_map(tries).flat_map(laps))
            } else {
                line.feedback_from(first, places, |items| items.try_map(tries).map(lap))
            }
        }
        Step::Needing(need) => {
            let needs = move |number: u64, item: &Item| need.of(number, item.key);
            let compute = move |item: Item, needed: &[Arc<Item>]| {
                if need == Need::Chain && !matches!(world.case.how, How::Detached(_)) {
                    // The result before it goes on at once. The threads of a detached stream take work on while nobody
                    // has taken its last results, so all of them may come here.
                    world.pass_gate(world.calls.get(&(node, item.key)).copied(), "a call");
                }
                world.try_visit(node, item)?;
                Ok(Item { key: needed.iter().fold(item.key, |key, other| mix(key, other.key)), ..item })
            };
            line.try_map_needing(need.reach(), needs, compute).serial(|item| *item)
        }
    }
}

impl Case {
    /// The fault that is planted for an item at a node.
    pub fn fault(&self, node: usize, origin: u64) -> Option<Kind> {
        self.faults.iter().find(|fault| (fault.node, fault.origin) == (node, origin)).map(|fault| fault.kind)
    }

    /// Whether the end may fail.
    pub fn has_fallible_end(&self) -> bool {
        self.end == End::TryForEach && matches!(self.how, How::Inline | How::Threads(_) | How::Pool(_))
    }

    /// How many results wait for an iterator, at most. They have left the run, and come also if it is cancelled then.
    fn handed(&self) -> usize {
        match self.how {
            How::Inline | How::Threads(_) | How::Pool(_) | How::Reported(_) => 0,
            How::WithIter(_) | How::IntoIter(_) | How::IntoAsync(_) | How::Detached(_) => {
                self.window.div_ceil(2)
            }
        }
    }

    /// How many threads run it, at most.
    fn threads(&self) -> usize {
        match self.how {
            How::Inline => 1,
            How::Threads(n) | How::WithIter(n) | How::IntoIter(n) => n,
            How::IntoAsync(n) | How::Reported(n) => n,
            How::Detached(n) | How::Pool(n) => n,
        }
    }
}

/// Runs a case with the crate.
///
/// # Panics
/// If the run panics with anything but a planted panic.
pub fn run(case: &Case, plain: &Loop) -> Seen {
    // The streams behind iterators own what they use.
    let world: World_ = Box::leak(Box::new(World {
        case: case.clone(),
        before: plain.before.clone(),
        calls: plain.calls.clone(),
        delivered: Mutex::default(),
        count: AtomicUsize::new(0),
        token: CancelToken::new(),
        is_cancelled: AtomicBool::new(false),
        after: AtomicUsize::new(0),
        is_late: AtomicBool::new(false),
        violations: Mutex::default(),
    }));
    let result = match catch_unwind(AssertUnwindSafe(|| build_and_run(world))) {
        Ok(result) => result.map_err(|planted| (planted, false)),
        Err(payload) => match payload.downcast::<Planted>() {
            Ok(planted) => Err((*planted, true)),
            Err(payload) => resume_unwind(payload),
        },
    };
    if let Err((planted, _)) = &result {
        planted.bomb.disarm();
    }
    let ended = match result {
        Ok(()) => Ended::Complete,
        Err((Planted { node: UNMET, .. }, _)) => Ended::Missing,
        Err((Planted { node, origin, .. }, false)) => Ended::Error(node, origin),
        Err((Planted { node, origin, .. }, true)) => Ended::Panic(node, origin),
    };
    // Each thread ends the item that it works on. A cell may hold several items.
    let (after, most) = (world.after.load(Ordering::SeqCst), (case.threads() + 1) * (12 + case.steps.len()));
    let most = most + case.handed();
    if after > most {
        world.violation(format!("{after} calls began after the run was cancelled"));
    }
    let delivered = world.delivered.lock().unwrap().clone();
    Seen { delivered, ended, violations: world.violations.lock().unwrap().clone() }
}

/// Changes a setting of a stream.
fn set(line: Line, setting: Setting) -> Line {
    match setting {
        Setting::Dedicated => line.dedicated(),
        Setting::Replicate(replicas) => line.replicate(replicas),
        Setting::Spin => line.with_plan(|plan| plan.settings.wait = Wait::Spin),
        Setting::Affinity => line.with_plan(|plan| plan.settings.pinned = true),
        Setting::Monitor => line.watch(&Monitor::new()),
        Setting::Watchdog => {
            line.watch(Watch::stalls(Duration::from_secs(3_600), |_| panic!("the stream stands still")))
        }
        Setting::OnProgress => line.watch(Watch::progress(|_| {})),
        Setting::Names => line.title("shape\0").name("last").name_end("sink"),
        Setting::Costs => {
            let (_, report) = Stream::from_iter(0..9).map(|n| n).report().count();
            line.cost(Duration::from_micros(3)).costs_from(&report)
        }
        Setting::Passes => line.passes(Passes::all()),
        Setting::WithPlan => line.with_plan(|plan| plan.settings.window = plan.settings.window.max(2)),
        Setting::WindowBytes(bytes) => line.window_bytes(bytes, |item| item.key % 8),
        Setting::WorkersFrom(workers) => line.workers(&Workers::new(workers)),
        Setting::Plan => {
            assert!(!line.explain().is_empty() && line.plan().nodes.len() > 1);
            line
        }
        Setting::Trace => line.trace(),
    }
}

fn build_and_run(world: World_) -> Result<(), Planted> {
    let case = &world.case;
    let mut source = Source { world, next: 0, is_over: false };
    let line: Line = match case.from {
        From::Iter => Stream::try_from_iter(source),
        From::Select => Stream::select_all([Stream::try_from_iter(source)]),
        From::Fn => Stream::try_from_iter(std::iter::from_fn(move || source.next())),
        From::Async if case.faults.iter().all(|fault| fault.node > 0) => {
            let sure = |item: Tried| item.unwrap_or_else(|planted| unreachable!("{planted:?}"));
            Stream::from_async(Hesitant { source, polls: 0 }.map(sure)).into()
        }
        From::Async => Stream::try_from_async(Hesitant { source, polls: 0 }),
        From::Channel(capacity) => {
            let (post, line) = Stream::channel(capacity);
            // It ends when the stream takes no more, or is dropped.
            std::thread::spawn(move || {
                source.map_while(Result::ok).map_while(|item| post.post(item).ok()).for_each(drop);
            });
            line.into()
        }
    };
    let mut line = line.window(case.window).cancel(&world.token);
    if case.is_in_runtime() {
        static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().build().unwrap());
        line = line.on(RUNTIME.handle());
    }
    if let Some(burst) = case.burst {
        line = line.burst(burst);
    }
    line = match case.how {
        How::Inline => line.workers(3).inline(),
        How::Threads(n) | How::WithIter(n) | How::IntoIter(n) => line.workers(n),
        How::IntoAsync(n) | How::Reported(n) => line.workers(n),
        How::Pool(n) | How::Detached(n) => line.pool(Arc::new(Pool::new(n))),
    };
    for at in 0..=case.steps.len() {
        for (_, setting) in case.settings.iter().filter(|(place, _)| *place == at) {
            line = set(line, *setting);
        }
        if at < case.steps.len() {
            line = add(line, world, at);
        }
    }
    match case.how {
        How::WithIter(_) => line.with_iter(|items| items.for_each(|item| world.deliver_surely(item))),
        How::Reported(_) => {
            let (result, report) = line.report().for_each(|item| world.deliver_surely(item));
            assert!(!report.to_string().is_empty());
            result
        }
        How::IntoAsync(_) => block_on_stream(line.into_async())
            .try_for_each(|item| item.map(|item| world.deliver_surely(item))),
        How::IntoIter(_) | How::Detached(_) => {
            line.into_iter().try_for_each(|item| item.map(|item| world.deliver_surely(item)))
        }
        _ => match case.end {
            End::ForEach => line.for_each(|item| world.deliver_surely(item)),
            End::TryForEach => line.try_for_each(|item| world.deliver(item)),
            End::Fold => line.fold((), |(), item| world.deliver_surely(item)),
            End::Find => {
                let found = line.find(|item| {
                    world.deliver_surely(*item);
                    false
                });
                found.map(|found| assert_eq!(found, None))
            }
        },
    }
}
