//! A case as a stream of the crate.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use anabranch::options::{ForAll, ForParallel, ForSerial};
use anabranch::plan::{Passes, Wait};
use anabranch::{
    Branches, ByKey, CountWindows, InTurn, Lap, May, Monitor, Operator, Pipeline, Pool, ReportSlot, Results,
    SessionWindows, Shards, Split, Stream, TimeWindows, TryStream, Watch, Workers,
};
use futures::StreamExt;
use futures::executor::block_on_stream;
use tokio::runtime::{Builder, Handle, Runtime};

use super::case::{Case, End, From, How, Need, Setting, Step, Summary, Way};
use super::compare::Seen;
use super::keys::{children, group, keeps, time};
use super::model::{Ended, Loop, Mark, laps};
use super::world::{Item, Local, Source, Tried, World};
use crate::contract_support::planted::{Planted, UNMET, mix};

type Line = TryStream<'static, Item, Planted>;
type At = &'static World;

/// An error under another name.
struct Renamed(Planted);

impl std::convert::From<Planted> for Renamed {
    fn from(planted: Planted) -> Self {
        Self(planted)
    }
}

/// An asynchronous source. It is pending until it may be asked, and now and then besides.
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

fn map(world: At, node: usize) -> impl Fn(Item) -> Item + Clone + Send + Sync {
    move |item| {
        world.visit(node, &item);
        item.marked(node)
    }
}

fn try_map(world: At, node: usize) -> impl Fn(Item) -> Tried + Clone + Send + Sync {
    move |item| world.try_visit(node, &item).map(|()| item.marked(node))
}

fn kept(node: usize, item: Item) -> Option<Item> {
    keeps(item.key, node).then(|| item.marked(node))
}

fn each(world: At, node: usize) -> impl Fn(Item) -> Item + Clone + Send + Sync {
    move |item| {
        world.meet(node, &item);
        item.marked(node)
    }
}

/// The result of a step for several items.
fn merged(world: At, node: usize) -> impl Fn(Vec<Item>) -> Item + Send + Sync {
    move |items| {
        let item = Item::merge(&items);
        world.meet(node, &item);
        item
    }
}

fn joined(left: Vec<Item>, right: Vec<Item>) -> Vec<Item> {
    left.into_iter().chain(right).collect()
}

/// The children of an item. Each is made when it is asked for.
fn tried_children(world: At, node: usize, parent: Item) -> impl Iterator<Item = Tried> + Send {
    (0..children(parent.key, node)).map(move |number| world.try_child(node, &parent, number))
}

fn some_children(world: At, node: usize, parent: Item) -> impl Iterator<Item = Item> + Send {
    tried_children(world, node, parent).map(|tried| tried.unwrap_or_else(|planted| panic_any(planted)))
}

/// Gives the children of each item.
struct Children {
    world: At,
    node: usize,
}

impl Operator<Item> for Children {
    type Out = Item;
    type Error = Infallible;

    fn item(&mut self, parent: Item, results: &mut Results<'_, Item>) -> Result<(), Infallible> {
        self.world.visit(self.node, &parent);
        results.extend(some_children(self.world, self.node, parent));
        Ok(())
    }
}

/// Gives the children of each item, until one fails.
struct TryChildren {
    world: At,
    node: usize,
}

impl Operator<Item> for TryChildren {
    type Out = Item;
    type Error = Planted;

    fn item(&mut self, parent: Item, results: &mut Results<'_, Item>) -> Result<(), Planted> {
        self.world.try_visit(self.node, &parent)?;
        // All are made before the first is given, as in a `flat_map` that returns a vector.
        let mut made = Vec::new();
        let made_all = tried_children(self.world, self.node, parent)
            .try_for_each(|child| child.map(|child| made.push(child)));
        results.extend(made);
        made_all
    }
}

/// Gathers items, as `chunks` does.
struct Gather {
    size: usize,
    gathered: Vec<Item>,
}

impl Operator<Item> for Gather {
    type Out = Vec<Item>;
    type Error = Infallible;
    const GIVES_MANY: bool = false;

    fn item(&mut self, item: Item, results: &mut Results<'_, Vec<Item>>) -> Result<(), Infallible> {
        self.gathered.push(item);
        if self.gathered.len() == self.size {
            results.give(std::mem::take(&mut self.gathered));
        }
        Ok(())
    }

    fn end(&mut self, results: &mut Results<'_, Vec<Item>>) -> Result<(), Infallible> {
        if !self.gathered.is_empty() {
            results.give(std::mem::take(&mut self.gathered));
        }
        Ok(())
    }
}

/// The children of an item for steps that are called until they have nothing more. The state says how many there were.
fn next_child(
    world: At,
    node: usize,
    made: &mut Option<u64>,
    parent: &mut Item,
) -> Result<Option<Item>, Planted> {
    if made.is_none() {
        world.try_meet(node, parent)?;
    }
    let number = made.unwrap_or(0);
    if number == children(parent.key, node) {
        *made = None;
        return Ok(None);
    }
    *made = Some(number + 1);
    world.try_child(node, parent, number).map(Some)
}

/// Adds an item to the state of its group.
fn try_keyed(world: At, node: usize) -> impl Fn(&mut u64, Item) -> Tried + Send + Sync {
    move |state, mut item| {
        world.try_visit(node, &item)?;
        *state = mix(*state, item.key);
        item.key = *state;
        Ok(item)
    }
}

fn keyed(world: At, node: usize) -> impl Fn(&mut u64, Item) -> Item + Send + Sync {
    let tried = try_keyed(world, node);
    move |state, item| tried(state, item).unwrap_or_else(|planted| panic_any(planted))
}

/// The result that other items need: a key, beside the item that leaves.
type Needed = (u64, Mutex<Option<Item>>);

/// The states of the groups of a shard.
type Groups = HashMap<u64, u64>;

/// Calls `f` after a number of polls, which depends on the item. Between them, the future wakes itself or another thread wakes it.
fn later<R>(world: At, key: u64, f: impl FnOnce() -> R + Send) -> impl Future<Output = R> + Send {
    let (mut polls, mut f) = (mix(key, 11) % 4, Some(f));
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
        if waits && mix(key, left).is_multiple_of(3) {
            std::thread::spawn(move || waker.wake());
        } else {
            waker.wake();
        }
        Poll::Pending
    })
}

/// Adds steps. The first has the number `first`.
fn add_all(mut line: Line, world: At, steps: &'static [Step], first: usize) -> Line {
    let mut node = first;
    for step in steps {
        line = add(line, world, step, node);
        node += step.nodes();
    }
    line
}

/// A stream with options of its next step.
type With<O> = Stream<'static, Item, May<Planted>, O>;

/// Adds one of the parallel steps that are drawn with options.
fn add_parallel<O: ForParallel>(line: With<O>, world: At, step: &'static Step, node: usize) -> Line {
    let (f, tries) = (map(world, node), try_map(world, node));
    match *step {
        Step::Map => line.map(f),
        Step::Try => line.try_map(tries),
        Step::With => line.map_init(
            move || Local::new(world),
            move |local, item| {
                local.check();
                f(item)
            },
        ),
        Step::TryWith => line.try_map_init(
            move || Local::new(world),
            move |local, item| {
                local.check();
                tries(item)
            },
        ),
        ref other => unreachable!("{other:?} is not drawn with options"),
    }
}

/// Adds one of the serial steps that are drawn with options.
fn add_serial<O: ForSerial>(line: With<O>, world: At, step: &'static Step, node: usize) -> Line {
    let meets = each(world, node);
    match *step {
        Step::Each => line.serial_map(meets),
        Step::TryEach => {
            line.try_serial_map(move |item| world.try_meet(node, &item).map(|()| item.marked(node)))
        }
        ref other => unreachable!("{other:?} is not drawn with options"),
    }
}

/// Adds a step with the options that were drawn for it.
fn add_with(line: Line, world: At, step: &'static Step, node: usize, options: &[Setting]) -> Line {
    let is_parallel = step.is_parallel_with_options();
    if !is_parallel && !step.is_serial_with_options() {
        return add(line, world, step, node);
    }
    let mut named = line.named("step");
    for option in options {
        match option {
            Setting::Costs => named = named.cost(Duration::from_micros(3)),
            Setting::Names => named = named.named("last"),
            Setting::Dedicated => return add_serial(named.dedicated(), world, step, node),
            Setting::Replicate(replicas) => {
                return add_parallel(named.replicas(*replicas), world, step, node);
            }
            _ => {}
        }
    }
    if is_parallel { add_parallel(named, world, step, node) } else { add_serial(named, world, step, node) }
}

/// Adds a step.
fn add(line: Line, world: At, step: &'static Step, node: usize) -> Line {
    let (f, tries, meets) = (map(world, node), try_map(world, node), each(world, node));
    match *step {
        Step::Map | Step::Try | Step::With | Step::TryWith => add_parallel(line, world, step, node),
        Step::Each | Step::TryEach => add_serial(line, world, step, node),
        Step::Inspect => line.inspect(move |item| world.visit(node, item)),
        Step::Filter => line.filter(move |item| {
            world.visit(node, item);
            keeps(item.key, node)
        }),
        Step::FilterMap => line.filter_map(move |item| {
            world.visit(node, &item);
            kept(node, item)
        }),
        Step::TryFilterMap => {
            line.try_filter_map(move |item| world.try_visit(node, &item).map(|()| kept(node, item)))
        }
        Step::Farm => line.farm((0..3).map(|_| f.clone())),
        Step::TryFarm => line.try_farm((0..2).map(|_| tries.clone())),
        Step::CountBytes => line.count_bytes(|item| item.key % 100),
        Step::Through => {
            let stages = Pipeline::new(move |line: Line| line.try_map(try_map(world, node)));
            let stages = stages.then(Pipeline::new(|line: Line| line.map(|item| item)));
            line.through(&stages.named("through"))
        }
        Step::NewError => {
            let renamed = line.map_err(Renamed).try_map(move |item| Ok(tries(item)?));
            renamed.map_err(|Renamed(planted)| planted)
        }
        // Each second one is an operator as users write it.
        Step::Flat if node % 2 == 1 => line.operator(Children { world, node }),
        Step::TryFlat if node % 2 == 1 => line.try_operator(TryChildren { world, node }),
        Step::Flat => line.flat_map(move |item| {
            world.visit(node, &item);
            some_children(world, node, item)
        }),
        Step::TryFlat => line.try_flat_map(move |parent| match world.try_visit(node, &parent) {
            Err(planted) => vec![Err(planted)],
            Ok(()) => {
                // Nothing is made behind the first failure.
                let mut failed = false;
                let going_on = |tried: &Tried| !std::mem::replace(&mut failed, tried.is_err());
                tried_children(world, node, parent).take_while(going_on).collect()
            }
        }),
        Step::MapAsync(most) => {
            line.map_async(most, move |item| later(world, item.key, move || map(world, node)(item)))
        }
        Step::TryMapAsync(most) => {
            line.try_map_async(most, move |item| later(world, item.key, move || try_map(world, node)(item)))
        }
        Step::FilterMapAsync(most) => line.filter_map_async(most, move |item| {
            later(world, item.key, move || {
                world.visit(node, &item);
                kept(node, item)
            })
        }),
        Step::TryFilterMapAsync(most) => line.try_filter_map_async(most, move |item| {
            later(world, item.key, move || world.try_visit(node, &item).map(|()| kept(node, item)))
        }),
        Step::Sharded(shards) => {
            let keyed = keyed(world, node);
            let call = move |groups: &mut Groups, item: Item| {
                keyed(groups.entry(group(item.key)).or_default(), item)
            };
            line.map_sharded(Shards::by_key(shards, |item: &Item| group(item.key)), Groups::new, call)
        }
        Step::TrySharded(shards) => {
            let keyed = try_keyed(world, node);
            let call = move |groups: &mut Groups, item: Item| {
                keyed(groups.entry(group(item.key)).or_default(), item)
            };
            let shards = Shards::chosen(shards, |item: &Item| group(item.key) as usize);
            line.try_map_sharded(shards, Groups::new, call)
        }
        Step::ByKey => line.map_by_key(|item: &Item| group(item.key), || 0, keyed(world, node)),
        Step::Needing(need) => {
            let needs = move |number: u64, item: &Item| need.of(number, item.key);
            let compute = move |mut item: Item, needed: &[Arc<Needed>]| {
                if need == Need::Chain && !matches!(world.case.how, How::Detached(_)) {
                    // The result before it goes on at once. The threads of a detached stream take work on while nobody
                    // has taken its last results, so all of them may come here.
                    world.pass_gate(world.calls.get(&(node, item.key)).copied(), "a call");
                }
                world.try_visit(node, &item)?;
                item.key = needed.iter().fold(item.key, |key, other| mix(key, other.0));
                Ok((item.key, Mutex::new(Some(item))))
            };
            let results = line.try_map_dependent(need.reach(), needs, compute);
            results.serial_map(|result| result.1.lock().unwrap().take().expect("each item leaves once"))
        }
        Step::Unordered => line.unordered(),
        Step::Option => line.serial_filter_map(move |item| {
            world.meet(node, &item);
            kept(node, item)
        }),
        Step::TryOption => {
            line.try_serial_filter_map(move |item| world.try_meet(node, &item).map(|()| kept(node, item)))
        }
        Step::Take(most) => line.take(most),
        Step::TakeWhile(limit) => line.take_while(move |item| {
            world.meet(node, item);
            item.origin < limit
        }),
        Step::MapWhile(limit) => line.map_while(move |item| {
            world.meet(node, &item);
            (item.origin < limit).then_some(item)
        }),
        Step::Scan(limit) => line.scan(0, move |sum, mut item| {
            world.meet(node, &item);
            (item.origin < limit).then(|| {
                *sum = mix(*sum, item.key);
                item.key = *sum;
                item
            })
        }),
        Step::Enumerate => line.enumerate().map(|(number, item)| item.marked(number)),
        Step::Zip(most) => line.zip(0..most as usize).map(|(item, number)| item.marked(number)),
        Step::Skip(count) => line.skip(count),
        Step::EveryNth(step) => line.step_by(step),
        Step::Chunks(size) if node % 2 == 1 => {
            line.operator(Gather { size, gathered: Vec::new() }).serial_map(merged(world, node))
        }
        Step::Chunks(size) => line.chunks(size).serial_map(merged(world, node)),
        Step::Throttle => line.throttle(3, Duration::from_nanos(50)),
        Step::SerialFlat => line.serial_flat_map(move |item| {
            world.meet(node, &item);
            some_children(world, node, item)
        }),
        Step::TrySerialFlat => line.try_serial_flat_map(move |parent| {
            let met = world.try_meet(node, &parent);
            let (failure, parent) = (met.err(), Some(parent));
            let parent = parent.filter(|_| failure.is_none());
            failure
                .map(Err)
                .into_iter()
                .chain(parent.into_iter().flat_map(move |parent| tried_children(world, node, parent)))
        }),
        Step::SerialSpread => line.serial_spread(None, move |made, parent| {
            next_child(world, node, made, parent).unwrap_or_else(|planted| panic_any(planted))
        }),
        Step::TrySerialSpread => {
            line.try_serial_spread(None, move |made, parent| next_child(world, node, made, parent))
        }
        Step::Spread => line.spread(),
        Step::Chain(most) => line.chain((0..most).map(move |number| world.other(node, number))),
        Step::Interleave(most) => line.interleave((0..most).map(move |number| world.other(node, number))),
        Step::ChunkBy => {
            let merged = merged(world, node);
            line.chunk_by(|item| group(item.key)).serial_map(move |(_, items)| merged(items))
        }
        Step::SortedWithin(window) => line.sorted_within_by_key(window, |item| item.key),
        Step::ReadyChunks(most) => line.ready_chunks(most).flatten().spread().serial_map(meets),
        Step::Windows(size, step) => {
            let windows =
                if size == step { CountWindows::tumbling(size) } else { CountWindows::sliding(size, step) };
            let merged = merged(world, node);
            line.windows(windows).serial_map(move |window| merged(window.value))
        }
        Step::Aggregated(size, step) => {
            let merged = merged(world, node);
            let windows = CountWindows::sliding(size, step);
            line.aggregate_windows(windows, |item| vec![item], joined)
                .serial_map(move |window| merged(window.value))
        }
        Step::WindowsByKey(size) => {
            let merged = merged(world, node);
            line.windows_by_key(|_| (), CountWindows::tumbling(size))
                .serial_map(move |window| merged(window.value))
        }
        Step::Times(length) => {
            let merged = merged(world, node);
            let at = |(number, item): &(usize, Item)| time(*number as u64, item.key) as i64;
            let windows = TimeWindows::tumbling(length as i64, at);
            line.enumerate()
                .aggregate_windows_by_key(|_| (), windows, |(_, item)| vec![item], joined)
                .serial_map(move |window| merged(window.value))
        }
        Step::Sessions(gap) => {
            let merged = merged(world, node);
            let at = |(number, item): &(usize, Item)| time(*number as u64, item.key) as i64;
            line.enumerate()
                .windows(SessionWindows::new(gap as i64, at))
                .serial_map(move |window| merged(window.value.into_iter().map(|(_, item)| item).collect()))
        }
        Step::Feedback { flat, first, places, ref stages } => {
            let first = (0..first).map(|number| world.inside(number));
            let lap = |item: Item, mark| match mark {
                Mark::Again(mark) => Lap::Again(item.marked(mark)),
                Mark::Done(mark) => Lap::Done(item.marked(mark)),
            };
            line.feedback_from(first, places, move |items| {
                let items = add_all(items, world, stages, node + 1);
                if flat {
                    items.flat_map(move |item| {
                        let marks = laps(item.key, true).iter();
                        marks.map(|mark| lap(item.copy(), *mark)).collect::<Vec<_>>()
                    })
                } else {
                    items.map(move |item| {
                        let mark = laps(item.key, false)[0];
                        lap(item, mark)
                    })
                }
            })
        }
        Step::Fork(way, ref branches) => fork(line, world, way, branches, node),
    }
}

/// Adds branches, in each of the ways in which items come to them and from them.
fn fork(line: Line, world: At, way: Way, branches: &'static [Vec<Step>], node: usize) -> Line {
    let firsts = branches.iter().scan(node + 1, |next, steps| {
        let first = *next;
        *next += steps.iter().map(Step::nodes).sum::<usize>();
        Some(first)
    });
    let firsts: Vec<usize> = firsts.collect();
    let add = |number: usize| {
        let (steps, first) = (&branches[number], firsts[number]);
        move |line: Line| add_all(line, world, steps, first)
    };
    let merged = |items: Vec<Item>| Item::merge(&items);
    let count = branches.len();
    match way {
        Way::Zip => {
            let fork = line.broadcast();
            match count {
                1 => fork.branch(add(0)).zip().map(move |(a,)| merged(vec![a])),
                2 => fork.branch(add(0)).branch(add(1)).zip().map(move |(a, b)| merged(vec![a, b])),
                _ => {
                    let zipped = fork.branch(add(0)).branch(add(1)).branch(add(2)).zip();
                    zipped.map(move |(a, b, c)| merged(vec![a, b, c]))
                }
            }
        }
        Way::Merge => {
            let twice = |item: Item| [item.child(0), item.child(1)];
            let first = add(0);
            let fork = line.broadcast().branch(move |line| first(line).flat_map(twice));
            match count {
                1 => fork.merge(),
                2 => fork.branch(add(1)).merge(),
                _ => fork.branch(add(1)).branch(add(2)).merge(),
            }
        }
        Way::Chosen => dealt(line.split(move |item: &Item| (item.key % count as u64) as usize), count, add),
        Way::InTurn => dealt(line.split(InTurn::new()), count, add),
        // Nothing tells which of the branches an item takes.
        Way::ByKey => {
            let fork = line.split(ByKey::new(|item: &Item| group(item.key)));
            let joined = fork.branch(add(0)).branch(add(0)).join();
            joined.map(|item| Item::merge(&[item]))
        }
    }
}

/// The branches of a split, each with its steps.
fn dealt<R: 'static, A: FnOnce(Line) -> Line>(
    fork: Branches<'static, Split<R>, Item, May<Planted>, May<Planted>, ()>,
    count: usize,
    add: impl Fn(usize) -> A,
) -> Line {
    let fork = fork.branch(add(0));
    let joined = match count {
        1 => fork.join(),
        2 => fork.branch(add(1)).join(),
        _ => fork.branch(add(1)).branch(add(2)).join(),
    };
    joined.map(|item| Item::merge(&[item]))
}

/// Changes a setting of a stream.
fn set(line: Line, setting: Setting) -> Line {
    match setting {
        Setting::Dedicated | Setting::Replicate(_) | Setting::WindowBytes(_) => line, // options, which stand elsewhere
        Setting::Spin => line.with_plan(|plan| plan.settings.wait = Wait::Spin),
        Setting::Affinity => line.with_plan(|plan| plan.settings.pinned = true),
        Setting::Monitor => line.watch(&Monitor::new()),
        Setting::Watchdog => {
            line.watch(Watch::stalls(Duration::from_secs(3_600), |_| panic!("the stream stands still")))
        }
        Setting::OnProgress => line.watch(Watch::progress(|_| {})),
        Setting::Names => line.title("shape\0"),
        Setting::Costs => {
            let slot = ReportSlot::new();
            Stream::from_iter(0..9).map(|n| n).report_to(&slot).count();
            let report = slot.take().unwrap();
            line.costs_from(&report)
        }
        Setting::Passes => line.passes(Passes::all()),
        Setting::WithPlan => line.with_plan(|plan| plan.settings.window = plan.settings.window.max(2)),
        Setting::WorkersFrom(workers) => line.workers(&Workers::new(workers)),
        Setting::Plan => {
            assert!(!line.explain().is_empty() && line.plan().nodes.len() > 1);
            line
        }
        Setting::Trace => line.trace(),
    }
}

/// Gives a source the options that were drawn for it.
fn asked<I>(items: I, options: &[Setting], in_blocks: bool) -> Line
where
    I: Iterator<Item = Tried> + Send + 'static,
{
    let mut source = anabranch::Source::try_new(items);
    if in_blocks {
        source = source.in_blocks();
    }
    for option in options {
        source = match *option {
            Setting::Dedicated => source.dedicated(),
            Setting::Costs => source.cost(Duration::from_nanos(5)),
            Setting::Names => source.named("first"),
            Setting::WindowBytes(bytes) => source.window_bytes(bytes, |item| item.key % 8),
            _ => source,
        };
    }
    source.into_stream()
}

fn source(world: At) -> Line {
    let case = &world.case;
    let mut source = Source { world, next: 0 };
    let options: Vec<Setting> = case.settings_at(0).collect();
    let bytes = options.iter().find_map(|option| match option {
        Setting::WindowBytes(bytes) => Some(*bytes),
        _ => None,
    });
    let weigh = |item: &Item| item.key % 8;
    match case.from {
        From::Iter => asked(source, &options, false),
        From::Blocks => asked(source, &options, true),
        From::Select => Stream::select_all([Stream::try_from_iter(source)]),
        From::Fn => asked(std::iter::from_fn(move || source.next()), &options, false),
        From::Async if case.faults.iter().all(|fault| fault.node > 0) => {
            let sure = |item: Tried| item.unwrap_or_else(|planted| unreachable!("{planted:?}"));
            let items = Hesitant { source, polls: 0 }.map(sure);
            match bytes {
                None => Stream::from_async(items).into(),
                Some(bytes) => {
                    anabranch::Source::from_async(items).window_bytes(bytes, weigh).into_stream().into()
                }
            }
        }
        From::Async => {
            let items = Hesitant { source, polls: 0 };
            match bytes {
                None => Stream::try_from_async(items),
                Some(bytes) => {
                    anabranch::Source::try_from_async(items).window_bytes(bytes, weigh).into_stream()
                }
            }
        }
        From::Channel(capacity) => {
            let (sender, line) = match bytes {
                None => Stream::channel(capacity),
                Some(bytes) => {
                    let (sender, source) = anabranch::Source::channel(capacity);
                    (sender, source.window_bytes(bytes, weigh).into_stream())
                }
            };
            // It ends when the stream takes no more, or is dropped.
            world.senders.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                for item in source.map_while(Result::ok) {
                    if sender.send(item).is_err() {
                        world.asked.fetch_sub(1, Ordering::SeqCst);
                        break;
                    }
                }
                world.senders.fetch_sub(1, Ordering::SeqCst);
            });
            line.into()
        }
    }
}

fn build_and_run(world: At) -> Result<Ended, Planted> {
    let case = &world.case;
    let mut line = source(world).window(case.window).title(world.title()).cancel_by(&world.token);
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
    let mut node = 1;
    for at in 0..=case.steps.len() {
        for setting in case.settings_at(at) {
            line = set(line, setting);
        }
        if let Some(step) = case.steps.get(at) {
            let options: Vec<Setting> = case.settings_at(at + 1).collect();
            line = add_with(line, world, step, node, &options);
            node += step.nodes();
        }
    }
    let done = |()| Ended::Complete;
    match case.how {
        How::WithIter(_) => line.with_iter(|items| items.for_each(|item| world.deliver(&item))).map(done),
        How::Reported(_) => {
            let slot = ReportSlot::new();
            let result = line.report_to(&slot).for_each(|item| world.deliver(&item));
            let report = slot.take().unwrap();
            assert!(!report.to_string().is_empty());
            result.map(done)
        }
        How::IntoAsync(_) => block_on_stream(line.into_async())
            .try_for_each(|item| item.map(|item| world.deliver(&item)))
            .map(done),
        How::IntoIter(_) | How::Detached(_) => {
            line.into_iter().try_for_each(|item| item.map(|item| world.deliver(&item))).map(done)
        }
        How::Inline | How::Threads(_) | How::Pool(_)
            if case.settings_at(case.steps.len()).any(|set| set == Setting::Names) =>
        {
            finish(line.named("sink"), world)
        }
        How::Inline | How::Threads(_) | How::Pool(_) => finish(line, world),
    }
}

/// Runs a stream to its end.
fn finish<O: ForAll>(line: With<O>, world: At) -> Result<Ended, Planted> {
    let done = |()| Ended::Complete;
    let found = |key: Option<u64>| key.map_or(Ended::Complete, Ended::Found);
    // The last key that the sink got.
    let mut last = 0;
    let mut deliver = |item: &Item| {
        world.deliver(item);
        last = item.key;
    };
    match world.case.end {
        End::TryForEach => line.try_for_each(|item| world.try_deliver(&item)).map(done),
        End::ForEach => line.for_each(|item| world.deliver(&item)).map(done),
        End::Fold => line.fold((), |(), item| world.deliver(&item)).map(done),
        End::TryFold => line.try_fold((), |(), item| world.try_deliver(&item)).map(done),
        End::Find(limit) => {
            let item = line.find(|item| {
                world.deliver(item);
                item.origin >= limit
            });
            item.map(|item| found(item.map(|item| item.key)))
        }
        End::Any(limit) => {
            let any = line.any(|item| {
                deliver(&item);
                item.origin >= limit
            })?;
            Ok(found(any.then_some(last)))
        }
        End::All(limit) => {
            let all = line.all(|item| {
                deliver(&item);
                item.origin < limit
            })?;
            Ok(found((!all).then_some(last)))
        }
        End::Collect => {
            let items = line.inspect(|_| ()).serial_map(|item| {
                world.deliver(&item);
                item.key
            });
            let keys = items.collect::<Vec<u64>>()?;
            check_value(world, keys == *world.delivered.lock().unwrap());
            Ok(Ended::Complete)
        }
        End::Summary(summary) => {
            let keys = line.serial_map(|item| {
                world.deliver(&item);
                item.key >> 8
            });
            let keys_of = || world.delivered.lock().unwrap().clone().into_iter().map(|key| key >> 8);
            match summary {
                Summary::Count => check_value(world, keys.count()? == keys_of().count()),
                Summary::Sum => {
                    check_value(world, keys.map(u128::from).sum::<u128>()? == keys_of().map(u128::from).sum())
                }
                Summary::Min => check_value(world, keys.min()? == keys_of().min()),
                Summary::Max => check_value(world, keys.max()? == keys_of().max()),
                Summary::Reduce => check_value(world, keys.reduce(composed)? == keys_of().reduce(composed)),
            }
            Ok(Ended::Complete)
        }
    }
}

/// Composes two functions `x -> a * x + b`, which have 32 bits of the key for each of `a` and `b`. It matters which is first, and
/// not which are composed first.
fn composed(first: u64, second: u64) -> u64 {
    let parts = |key: u64| ((key >> 32) as u32 | 1, key as u32);
    let ((a, b), (c, d)) = (parts(first), parts(second));
    u64::from(a.wrapping_mul(c)) << 32 | u64::from(a.wrapping_mul(d).wrapping_add(b))
}

/// Notes an end that has given another value than what the sink got makes. A call that cancels the run leaves any.
fn check_value(world: At, is_right: bool) {
    if !is_right && !world.case.cancels() {
        world.violation("the end gave another value".into());
    }
}

/// Runs a case with the crate.
///
/// # Panics
/// If the run panics with anything but a planted panic.
pub fn run(case: &Case, plain: &Loop) -> Seen {
    let world = World::new(case, plain);
    let (ended, planted) = match catch_unwind(AssertUnwindSafe(|| build_and_run(world))) {
        Ok(Ok(ended)) => (ended, None),
        Ok(Err(planted)) if planted.node == UNMET => (Ended::Missing, Some(planted)),
        Ok(Err(planted)) => (Ended::Error((planted.node, planted.origin, planted.path)), Some(planted)),
        Err(payload) => match payload.downcast::<Planted>() {
            Ok(planted) => (Ended::Panic((planted.node, planted.origin, planted.path)), Some(*planted)),
            Err(payload) => resume_unwind(payload),
        },
    };
    if let Some(planted) = planted {
        planted.bomb.disarm();
    }
    // Each thread ends the item that it works on. A cell may hold several items.
    let handed = if case.has_iterator() { case.window.div_ceil(2) } else { 0 };
    let most = (case.threads() + 1) * (12 + case.count_nodes()) + handed;
    let after = world.after.load(Ordering::SeqCst);
    if after > most && case.from != From::Blocks {
        world.violation(format!("{after} calls began after the run was cancelled"));
    }
    let late = world.asked_late.load(Ordering::SeqCst);
    if late > 1 && case.from != From::Blocks {
        world.violation(format!("the source was asked {late} times after the run was drained"));
    }
    let of = |log: &Mutex<Vec<u64>>| log.lock().unwrap().clone();
    Seen {
        ended,
        violations: world.violations(),
        delivered: of(&world.delivered),
        logs: world.logs.iter().map(of).collect(),
        asked: world.asked.load(Ordering::SeqCst),
        threads: world.threads(),
        title: world.title(),
    }
}
