//! A case as a pipeline of the crate.
//!
//! After every serial stage the stream has the same type, so one loop builds pipelines of any length. A flat
//! stretch changes the type once, so there are two loops. The closures come from functions, so that all
//! pipelines share their types.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use anabranch::{
    ByKey, CountWindows, InTurn, Lap, Pipeline, Pool, SessionWindows, Shards, Stream, TimeWindows, TryStream,
};

use super::case::{Case, Chain, End, Serial, Way, node};
use super::model::{Ended, Seen, children, goes_round, group, keeps, next_state};
use super::world::{InOrder, Item, Local, Planted, Source, World};

/// A planted error under another name.
struct Renamed(Planted);

impl From<Planted> for Renamed {
    fn from(planted: Planted) -> Self {
        Self(planted)
    }
}

type Tried<'w> = Result<Item<'w>, Planted>;

fn map<'w>(world: &'w World<'w>, node: usize) -> impl Fn(Item<'w>) -> Item<'w> + Send + Sync + 'w {
    move |item| {
        world.visit(node, item.origin, item.path);
        item.marked(node as u64)
    }
}

fn try_map<'w>(world: &'w World<'w>, node: usize) -> impl Fn(Item<'w>) -> Tried<'w> + Send + Sync + 'w {
    move |item| {
        world.try_visit(node, item.origin, item.path, false)?;
        Ok(item.marked(node as u64))
    }
}

fn local<'w>(world: &'w World<'w>) -> impl Fn() -> Local<'w> + Send + Sync + 'w {
    move || Local::new(world)
}

fn map_with<'w>(
    world: &'w World<'w>,
    node: usize,
) -> impl Fn(&mut Local<'w>, Item<'w>) -> Item<'w> + Send + Sync + 'w {
    move |local, item| {
        local.check();
        world.visit(node, item.origin, item.path);
        item.marked(node as u64)
    }
}

fn try_map_with<'w>(
    world: &'w World<'w>,
    node: usize,
) -> impl Fn(&mut Local<'w>, Item<'w>) -> Tried<'w> + Send + Sync + 'w {
    move |local, item| {
        local.check();
        world.try_visit(node, item.origin, item.path, false)?;
        Ok(item.marked(node as u64))
    }
}

fn filter<'w>(world: &'w World<'w>, node: usize) -> impl Fn(&Item<'w>) -> bool + Send + Sync + 'w {
    move |item| {
        world.visit(node, item.origin, item.path);
        keeps(item.key, node)
    }
}

fn filter_map<'w>(
    world: &'w World<'w>,
    node: usize,
) -> impl Fn(Item<'w>) -> Option<Item<'w>> + Send + Sync + 'w {
    move |item| {
        world.visit(node, item.origin, item.path);
        keeps(item.key, node).then(|| item.marked(node as u64))
    }
}

fn inspect<'w>(world: &'w World<'w>, node: usize) -> impl Fn(&Item<'w>) + Send + Sync + 'w {
    move |item| world.visit(node, item.origin, item.path)
}

/// The children of an item. Each is created when it is asked for.
struct Children<'w> {
    world: &'w World<'w>,
    node: usize,
    parent: Item<'w>,
    numbers: std::ops::Range<u64>,
}

impl<'w> Iterator for Children<'w> {
    type Item = Item<'w>;

    fn next(&mut self) -> Option<Item<'w>> {
        let child = self.parent.child(self.numbers.next()?);
        if let Err(planted) = self.world.try_visit(self.node, child.origin, child.path, true) {
            panic_any(planted);
        }
        Some(child)
    }
}

fn flat_map<'w>(world: &'w World<'w>, node: usize) -> impl Fn(Item<'w>) -> Children<'w> + Send + Sync + 'w {
    move |parent| {
        world.visit(node, parent.origin, parent.path);
        Children { world, node, numbers: 0..children(parent.key, node), parent }
    }
}

/// The children of an item, or the failure of the item or of one of them.
fn try_flat_map<'w>(
    world: &'w World<'w>,
    node: usize,
) -> impl Fn(Item<'w>) -> Vec<Tried<'w>> + Send + Sync + 'w {
    move |parent| {
        if let Err(planted) = world.try_visit(node, parent.origin, parent.path, false) {
            return vec![Err(planted)];
        }
        let mut tried = Vec::new();
        for number in 0..children(parent.key, node) {
            let child = parent.child(number);
            let visited = world.try_visit(node, child.origin, child.path, true);
            tried.push(visited.map(|()| child));
            if tried.last().is_some_and(Result::is_err) {
                break;
            }
        }
        tried
    }
}

/// The first part of every serial closure.
fn meet<'w>(world: &'w World<'w>, place: usize, order: &mut InOrder, item: &Item<'w>) -> Result<(), Planted> {
    let node = node(place, 3);
    order.check(world, node, item);
    world.serial[place].lock().unwrap().push(item.key);
    world.try_visit(node, item.origin, item.path, false)
}

fn meet_surely<'w>(world: &'w World<'w>, place: usize, order: &mut InOrder, item: &Item<'w>) {
    if let Err(planted) = meet(world, place, order, item) {
        panic_any(planted);
    }
}

fn each<'w>(world: &'w World<'w>, place: usize) -> impl FnMut(Item<'w>) -> Item<'w> + Send + 'w {
    let mut order = InOrder::default();
    move |item| {
        meet_surely(world, place, &mut order, &item);
        item.marked(node(place, 3) as u64)
    }
}

fn each_option<'w>(
    world: &'w World<'w>,
    place: usize,
) -> impl FnMut(Item<'w>) -> Option<Item<'w>> + Send + 'w {
    let mut order = InOrder::default();
    move |item| {
        meet_surely(world, place, &mut order, &item);
        let node = node(place, 3);
        keeps(item.key, node).then(|| item.marked(node as u64))
    }
}

fn try_each<'w>(world: &'w World<'w>, place: usize) -> impl FnMut(Item<'w>) -> Tried<'w> + Send + 'w {
    let mut order = InOrder::default();
    move |item| {
        meet(world, place, &mut order, &item)?;
        Ok(item.marked(node(place, 3) as u64))
    }
}

fn until<'w>(world: &'w World<'w>, place: usize, limit: u64) -> impl FnMut(&Item<'w>) -> bool + Send + 'w {
    let mut order = InOrder::default();
    move |item| {
        meet_surely(world, place, &mut order, item);
        item.origin < limit
    }
}

fn scan<'w>(
    world: &'w World<'w>,
    place: usize,
    limit: u64,
) -> impl FnMut(&mut u64, Item<'w>) -> Option<Item<'w>> + Send + 'w {
    let mut order = InOrder::default();
    move |sum, mut item| {
        meet_surely(world, place, &mut order, &item);
        (item.origin < limit).then(|| {
            *sum = super::world::mix(*sum, item.key);
            item.key = *sum;
            item
        })
    }
}

fn numbered<'w>(world: &'w World<'w>, place: usize) -> impl FnMut((usize, Item<'w>)) -> Item<'w> + Send + 'w {
    let mut order = InOrder::default();
    move |(number, item)| {
        meet_surely(world, place, &mut order, &item);
        item.marked(number as u64)
    }
}

fn paired<'w>(world: &'w World<'w>, place: usize) -> impl FnMut((Item<'w>, u64)) -> Item<'w> + Send + 'w {
    let mut order = InOrder::default();
    move |(item, number)| {
        meet_surely(world, place, &mut order, &item);
        item.marked(number)
    }
}

fn merged<'w>(world: &'w World<'w>, place: usize) -> impl FnMut(Vec<Item<'w>>) -> Item<'w> + Send + 'w {
    let mut order = InOrder::default();
    move |items| {
        let item = Item::merge(items);
        meet_surely(world, place, &mut order, &item);
        item.marked(node(place, 3) as u64)
    }
}

/// Counts the items of another source, which are `None`, and marks the others with their number so far.
fn among_others<'w>(
    world: &'w World<'w>,
    place: usize,
) -> impl FnMut(Option<Item<'w>>) -> Option<Item<'w>> + Send + 'w {
    let (mut order, mut others) = (InOrder::default(), 0);
    move |item| {
        let Some(item) = item else {
            others += 1;
            return None;
        };
        meet_surely(world, place, &mut order, &item);
        Some(item.marked(others))
    }
}

/// The children of an item, of which each is created when it is asked for. The first of them is the item's own failure.
fn try_each_child<'w>(
    world: &'w World<'w>,
    place: usize,
) -> impl FnMut(Item<'w>) -> Box<dyn Iterator<Item = Tried<'w>> + Send + 'w> + Send + 'w {
    let mut order = InOrder::default();
    move |parent| {
        if let Err(planted) = meet(world, place, &mut order, &parent) {
            return Box::new(std::iter::once(Err(planted)));
        }
        let node = node(place, 3);
        Box::new((0..children(parent.key, node)).map(move |number| {
            let child = parent.child(number);
            world.try_visit(node, child.origin, child.path, true).map(|()| child)
        }))
    }
}

fn each_child<'w>(world: &'w World<'w>, place: usize) -> impl FnMut(Item<'w>) -> Children<'w> + Send + 'w {
    let mut order = InOrder::default();
    move |parent| {
        meet_surely(world, place, &mut order, &parent);
        let node = node(place, 3);
        Children { world, node, numbers: 0..children(parent.key, node), parent }
    }
}

/// The same for stages that are called until they have nothing more. The state says how many children there were.
fn try_next_child<'w>(
    world: &'w World<'w>,
    place: usize,
) -> impl FnMut(&mut Option<u64>, &mut Item<'w>) -> Result<Option<Item<'w>>, Planted> + Send + 'w {
    let mut order = InOrder::default();
    let node = node(place, 3);
    move |made, parent| {
        if made.is_none() {
            meet(world, place, &mut order, parent)?;
        }
        let number = made.unwrap_or(0);
        if number == children(parent.key, node) {
            *made = None;
            return Ok(None);
        }
        *made = Some(number + 1);
        let child = parent.child(number);
        world.try_visit(node, child.origin, child.path, true).map(|()| Some(child))
    }
}

/// The states of the groups of a shard.
type Groups = HashMap<u64, u64>;

fn try_keyed<'w>(
    world: &'w World<'w>,
    place: usize,
) -> impl Fn(&mut u64, Item<'w>) -> Tried<'w> + Send + Sync + 'w {
    move |state, mut item| {
        world.try_visit(node(place, 3), item.origin, item.path, false)?;
        *state = next_state(*state, item.key);
        item.key = *state;
        Ok(item)
    }
}

fn keyed<'w>(
    world: &'w World<'w>,
    place: usize,
) -> impl Fn(&mut u64, Item<'w>) -> Item<'w> + Send + Sync + 'w {
    let tried = try_keyed(world, place);
    move |state, item| tried(state, item).unwrap_or_else(|planted| panic_any(planted))
}

/// One of the branches of a split.
fn branch<'w>(
    world: &'w World<'w>,
    place: usize,
    number: u64,
) -> impl Fn(Item<'w>) -> Item<'w> + Send + Sync + 'w {
    let mapped = map(world, node(place, 3));
    move |item| mapped(item).marked(number)
}

/// The one whose items may fail.
fn try_branch<'w>(world: &'w World<'w>, place: usize) -> impl Fn(Item<'w>) -> Tried<'w> + Send + Sync + 'w {
    let tried = try_map(world, node(place, 3));
    move |item| tried(item).map(|item| item.marked(1))
}

fn joined<'w>(left: Vec<Item<'w>>, right: Vec<Item<'w>>) -> Vec<Item<'w>> {
    left.into_iter().chain(right).collect()
}

fn sink<'w>(world: &'w World<'w>, order: &mut InOrder, item: &Item<'w>) -> Result<(), Planted> {
    order.check(world, super::world::SINK, item);
    world.deliver(item)
}

/// Boxes a stream, without changing how many items an index has: so this follows flat stretches too.
macro_rules! boxed {
    ($stream:expr) => {
        $stream.map_err(|planted| planted)
    };
}

/// Appends a simple serial stage to a stretch whose type says all; before any other stage, the stretch is boxed. So every pair
/// of a stretch and a stage exists, and few are compiled.
macro_rules! step {
    ($stream:expr, $world:expr, $at:expr) => {{
        let (stream, at) = ($stream, $at);
        match $world.case.segments[at].serial {
            Serial::Each => stream.serial(each($world, at)),
            Serial::Try => stream.try_serial(try_each($world, at)),
            _ => boxed!(stream),
        }
    }};
}

/// Appends the operators of a stretch, and a simple serial stage.
macro_rules! stretch {
    (single $chain:expr, $stream:expr, $world:expr, $at:expr) => {
        match $chain {
            Chain::Direct => step!($stream, $world, $at),
            Chain::Map => step!($stream.map(map($world, node($at, 0))), $world, $at),
            Chain::Filter => step!($stream.filter(filter($world, node($at, 0))), $world, $at),
            Chain::FilterMap => step!($stream.filter_map(filter_map($world, node($at, 0))), $world, $at),
            Chain::TryMap => step!($stream.try_map(try_map($world, node($at, 0))), $world, $at),
            Chain::MapWith => {
                step!($stream.map_with(local($world), map_with($world, node($at, 0))), $world, $at)
            }
            Chain::TryThenWith => {
                let stream = $stream.try_map(try_map($world, node($at, 0)));
                step!(stream.map_with(local($world), map_with($world, node($at, 1))), $world, $at)
            }
            Chain::InspectFilterTry => {
                let stream = $stream.inspect(inspect($world, node($at, 0)));
                let stream = stream.filter(filter($world, node($at, 1)));
                step!(stream.try_map(try_map($world, node($at, 2))), $world, $at)
            }
            Chain::TryFilterMap => {
                let tries = try_map($world, node($at, 0));
                let keeps = move |item: &Item<'w>| keeps(item.key, node($at, 0));
                let tried = move |item: Item<'w>| {
                    let is_kept = keeps(&item);
                    tries(item).map(|item| is_kept.then_some(item))
                };
                step!($stream.try_filter_map(tried), $world, $at)
            }
            Chain::FilterMapWith => {
                let f = filter_map($world, node($at, 0));
                let f = move |local: &mut Local<'w>, item| {
                    local.check();
                    f(item)
                };
                step!($stream.map_with(local($world), f).filter_map(|item| item), $world, $at)
            }
            Chain::Farms => {
                let workers = (0..3).map(move |_| map($world, node($at, 0)));
                let stream = $stream.farm(workers).count_bytes(|item: &Item<'w>| item.key % 100);
                let workers = (0..2).map(move |_| try_map($world, node($at, 1)));
                step!(stream.try_farm(workers), $world, $at)
            }
            Chain::Boxed => {
                let stream = boxed!($stream.map(map($world, node($at, 0))));
                step!(stream.try_map(try_map($world, node($at, 1))), $world, $at)
            }
            Chain::BoxedThrice => {
                let stream = boxed!($stream.filter_map(filter_map($world, node($at, 0))));
                let stream = stream.try_map_with(local($world), try_map_with($world, node($at, 1)));
                let stream = boxed!(stream).map_with(local($world), map_with($world, node($at, 2)));
                step!(boxed!(stream), $world, $at)
            }
            Chain::NewError => {
                let stream = $stream.try_map(try_map($world, node($at, 0))).map_err(Renamed);
                let f = try_map_with($world, node($at, 1));
                let stream = stream.try_map_with(local($world), move |local, item| Ok(f(local, item)?));
                step!(stream.map_err(|Renamed(planted)| planted), $world, $at)
            }
            _ => unreachable!("flat stretches are appended elsewhere"),
        }
    };
    (flat $chain:expr, $stream:expr, $world:expr, $at:expr) => {
        match $chain {
            Chain::FlatMap => step!($stream.flat_map(flat_map($world, node($at, 0))), $world, $at),
            Chain::FlatTry => {
                let stream = $stream.flat_map(flat_map($world, node($at, 0)));
                step!(stream.try_map(try_map($world, node($at, 1))), $world, $at)
            }
            Chain::FilterFlatWith => {
                let stream = $stream.filter(filter($world, node($at, 0)));
                let stream = stream.flat_map(flat_map($world, node($at, 1)));
                step!(stream.try_map_with(local($world), try_map_with($world, node($at, 2))), $world, $at)
            }
            Chain::FlatFlat => {
                let stream = $stream.flat_map(flat_map($world, node($at, 0)));
                step!(stream.flat_map(flat_map($world, node($at, 1))), $world, $at)
            }
            Chain::TryFlatMap => {
                step!($stream.try_flat_map(try_flat_map($world, node($at, 0))), $world, $at)
            }
            Chain::FlatNewError => {
                let stream = $stream.flat_map(flat_map($world, node($at, 0))).map_err(Renamed);
                let f = try_map($world, node($at, 1));
                let stream = stream.try_map(move |item| Ok(f(item)?));
                step!(stream.map_err(|Renamed(planted)| planted), $world, $at)
            }
            _ => unreachable!("stretches that are not flat are appended elsewhere"),
        }
    };
}

/// A stream whose indices have one item each.
type Singles<'w> = TryStream<'w, Item<'w>, Planted>;

/// Appends the serial stage of segment `at`, which gives its items indices of their own or takes them one by one.
fn gathering_or_dealing<'w>(stream: Singles<'w>, world: &'w World<'w>, at: usize) -> Singles<'w> {
    match world.case.segments[at].serial {
        // The items are in order: they come out as they came, but later.
        Serial::SortedWithin(window) => {
            let place = |item: &Item<'w>| (item.origin, item.path);
            stream.sorted_within_by_key(window, place).serial(each(world, at))
        }
        Serial::ChunkBy => {
            let mut merged = merged(world, at);
            stream.chunk_by(|item| group(item.key)).serial(move |(_, items)| merged(items))
        }
        Serial::Chained(count) => {
            let stream = stream.map(Some).chain((0..count).map(|_| None));
            stream.serial_filter_map(among_others(world, at))
        }
        Serial::Interleaved(count) => {
            let stream = stream.map(Some).interleave((0..count).map(|_| None));
            stream.serial_filter_map(among_others(world, at))
        }
        Serial::Windows(size) => {
            let mut merged = merged(world, at);
            stream.windows(CountWindows::tumbling(size)).serial(move |window| merged(window.value))
        }
        Serial::Sliding(size, step) => {
            let mut merged = merged(world, at);
            stream.windows(CountWindows::sliding(size, step)).serial(move |window| merged(window.value))
        }
        Serial::Aggregated(size, step) => {
            let mut merged = merged(world, at);
            let windows = CountWindows::sliding(size, step);
            let windows = stream.aggregate_windows(windows, |item| vec![item], joined);
            windows.serial(move |window| merged(window.value))
        }
        Serial::Sessions(gap) => {
            let mut merged = merged(world, at);
            let sessions = SessionWindows::new(gap as i64, |item: &Item<'w>| item.origin as i64);
            stream.windows(sessions).serial(move |window| merged(window.value))
        }
        Serial::WindowsByKey(size) => {
            let mut merged = merged(world, at);
            let windows = stream.windows_by_key(|_| (), CountWindows::tumbling(size));
            windows.serial(move |window| merged(window.value))
        }
        Serial::Times(length) => {
            let mut merged = merged(world, at);
            let windows = TimeWindows::tumbling(length as i64, |item: &Item<'w>| item.origin as i64);
            let windows = stream.aggregate_windows_by_key(|_| (), windows, |item| vec![item], joined);
            windows.serial(move |window| merged(window.value))
        }
        // Each item waits for the one before it. Nobody takes anything from that.
        Serial::Needing => {
            let tried = try_map(world, node(at, 3));
            let needs = |number: u64, _: &Item<'w>| number.checked_sub(1);
            let keep = move |item, _: &[_]| tried(item).map(|item| Mutex::new(Some(item)));
            let taken = stream.try_map_needing(1, needs, keep);
            taken.serial(|kept| kept.lock().unwrap().take().expect("it is taken once"))
        }
        Serial::FlatEach => stream.serial_flat_map(each_child(world, at)),
        Serial::TryFlatEach => stream.try_serial_flat_map(try_each_child(world, at)),
        Serial::FlatSpread => {
            let mut next = try_next_child(world, at);
            let next = move |made: &mut _, parent: &mut _| {
                next(made, parent).unwrap_or_else(|planted| panic_any(planted))
            };
            stream.serial_spread(None, next)
        }
        Serial::TryFlatSpread => stream.try_serial_spread(None, try_next_child(world, at)),
        Serial::Spread => stream.spread().map(move |item| item.marked(node(at, 3) as u64)),
        Serial::Through => {
            let stages =
                Pipeline::new(move |stream: Singles<'w>| stream.try_map(try_map(world, node(at, 3))));
            stream.through(&stages.named("through"))
        }
        Serial::Sharded(shards) => {
            let keyed = keyed(world, at);
            let call = move |groups: &mut Groups, item: Item<'w>| {
                keyed(groups.entry(group(item.key)).or_default(), item)
            };
            let shards = Shards::by_key(shards, |item: &Item<'w>| group(item.key));
            stream.map_sharded(shards, Groups::new, call)
        }
        Serial::TrySharded(shards) => {
            let keyed = try_keyed(world, at);
            let call = move |groups: &mut Groups, item: Item<'w>| {
                keyed(groups.entry(group(item.key)).or_default(), item)
            };
            let shards = Shards::chosen(shards, |item: &Item<'w>| group(item.key) as usize);
            stream.try_map_sharded(shards, Groups::new, call)
        }
        Serial::ByKey => stream.map_by_key(|item: &Item<'w>| group(item.key), || 0, keyed(world, at)),
        Serial::ReadyChunks(most) => stream.ready_chunks(most).flatten().spread().serial(each(world, at)),
        Serial::Zipped => {
            // Both branches may fail at one item. Then the failure of the first one counts.
            let tried = try_map(world, node(at, 3));
            let pairs = stream
                .broadcast()
                .branch(|items| items.serial(each(world, at)))
                .branch(|items| {
                    items.try_map(move |item: Item<'w>| {
                        let key = item.key;
                        tried(item).map(|_| key)
                    })
                })
                .zip();
            pairs.map(|(item, key)| item.marked(key))
        }
        Serial::Merged => {
            let child = |number| {
                let tried = try_map(world, node(at, 3));
                move |item| tried(item).map(|item| item.child(number))
            };
            stream
                .broadcast()
                .branch(|items| items.try_map(child(0)))
                .branch(|items| items.try_map(child(1)).flat_map(Some))
                .merge()
        }
        Serial::Split(way) => {
            let is_kept = move |item: &Item<'w>| keeps(item.key, node(at, 3));
            let none = branch(world, at, 0);
            let one = try_branch(world, at);
            match way {
                Way::If => stream
                    .split(move |item: &Item<'w>| usize::from(!is_kept(item)))
                    .branch(|items| items.map(none))
                    .branch(|items| items.try_map(one))
                    .join(),
                Way::InTurn => stream
                    .split(InTurn::new())
                    .branch(|items| items.map(none))
                    .branch(|items| items.try_serial(one))
                    .join(),
                Way::ByKey => stream
                    .split(ByKey::new(|item: &Item<'w>| group(item.key)))
                    .branch(|items| items.try_map(try_branch(world, at)))
                    .branch(|items| items.try_map(one))
                    .join(),
                Way::Chosen => stream
                    .split(|item: &Item<'w>| group(item.key) as usize)
                    .branch(|items| items.serial(none))
                    .branch(|items| items.try_map(one))
                    .branch(|items| items.map(branch(world, at, 2)))
                    .join(),
            }
        }
        // With 1 place, an item leaves the loop before the next one enters it.
        Serial::Feedback => {
            let lap = |item: Item<'w>| if goes_round(item.key) { Lap::Again(item) } else { Lap::Done(item) };
            stream.feedback(1, |items| items.try_map(try_map(world, node(at, 3))).map(lap))
        }
        serial => unreachable!("{serial:?} keeps batches"),
    }
}

/// Appends the serial stage of segment `$at`, where no stretch so far is flat.
macro_rules! serial {
    ($stream:expr, $world:expr, $at:expr) => {{
        let (stream, at) = ($stream, $at);
        if $world.case.segments[at].serial.keeps_batches() {
            batched_serial!(stream, $world, at)
        } else {
            gathering_or_dealing(stream, $world, at)
        }
    }};
}

/// Appends the serial stage of segment `$at`, where each index has a batch. What gives single items is followed by a stage
/// that makes batches of one.
macro_rules! flat_serial {
    ($stream:expr, $world:expr, $at:expr) => {{
        let (stream, at) = ($stream, $at);
        if $world.case.segments[at].serial.keeps_batches() {
            batched_serial!(stream, $world, at)
        } else {
            boxed!(gathering_or_dealing(stream, $world, at).flat_map(Some))
        }
    }};
}

/// Appends a serial stage that keeps batches.
macro_rules! batched_serial {
    ($stream:expr, $world:expr, $at:expr) => {{
        let (stream, at) = ($stream, $at);
        match $world.case.segments[at].serial {
            Serial::Each | Serial::Try => stream, // done with the stretch
            Serial::Option => stream.serial_filter_map(each_option($world, at)),
            Serial::Take(count) => stream.take(count),
            Serial::TakeWhile(limit) => stream.take_while(until($world, at, limit)),
            Serial::Scan(limit) => stream.scan(0, scan($world, at, limit)),
            Serial::Enumerate => stream.enumerate().serial(numbered($world, at)),
            Serial::Zip(count) => stream.zip(0..count).serial(paired($world, at)),
            Serial::Batch(size) => stream.chunks(size).serial(merged($world, at)),
            Serial::Skip(count) => stream.skip(count as usize).serial(each($world, at)),
            Serial::SkipWhile(limit) => {
                let mut skips = true;
                let mut each = each($world, at);
                stream.serial_filter_map(move |item: Item<'w>| {
                    skips = skips && item.origin < limit;
                    (!skips).then(|| each(item))
                })
            }
            Serial::StepBy(step) => stream.step_by(step as usize).serial(each($world, at)),
            Serial::MapWhile(limit) => {
                let mut until = until($world, at, limit);
                stream.map_while(move |item| until(&item).then_some(item))
            }
            Serial::Dedup => {
                let (mut last, mut each) = (None, each($world, at));
                stream.serial_filter_map(move |item: Item<'w>| {
                    let key = Some(group(item.key));
                    (std::mem::replace(&mut last, key) != key).then(|| each(item))
                })
            }
            Serial::TryOption => {
                let mut tries = try_each($world, at);
                let node = node(at, 3);
                stream.try_serial_filter_map(move |item: Item<'w>| {
                    let is_kept = keeps(item.key, node);
                    tries(item).map(|item| is_kept.then_some(item))
                })
            }
            Serial::Throttled => {
                boxed!(stream.serial(each($world, at)).throttle(3, Duration::from_nanos(50)))
            }
            serial => unreachable!("{serial:?} gives single items"),
        }
    }};
}

/// Runs a stream whose sink may fail.
macro_rules! run {
    ($stream:expr, $world:expr, $at:expr) => {{
        let mut order = InOrder::default();
        match $stream.try_for_each(|item| sink($world, &mut order, &item)) {
            Ok(()) => Ended::Complete,
            Err(planted) => Ended::Error(planted),
        }
    }};
}

/// Runs a stream into the case's end.
macro_rules! finish {
    ($stream:expr, $world:expr, $pooled:expr) => {{
        let (stream, at) = ($stream, $world.case.segments.len());
        let mut order = InOrder::default();
        let surely = |order: &mut InOrder, item: &Item<'w>| {
            sink($world, order, item).unwrap_or_else(|planted| panic_any(planted));
        };
        let over = |result: Result<(), Planted>| result.map_or_else(Ended::Error, |()| Ended::Complete);
        match ($world.case.tail, $world.case.end) {
            (Chain::Direct, End::ForEach) => over(stream.for_each(|item| surely(&mut order, &item))),
            (Chain::Direct, End::Find(limit)) => {
                let found = stream.find(|item| {
                    surely(&mut order, item);
                    item.origin >= limit
                });
                match found {
                    Ok(None) => Ended::Complete,
                    Ok(Some(item)) => Ended::Found(item.key),
                    Err(planted) => Ended::Error(planted),
                }
            }
            (Chain::Direct, End::Any(limit)) => {
                let mut last = 0;
                let found = stream.any(|item| {
                    surely(&mut order, &item);
                    last = item.key;
                    item.origin >= limit
                });
                match found {
                    Ok(true) => Ended::Found(last),
                    Ok(false) => Ended::Complete,
                    Err(planted) => Ended::Error(planted),
                }
            }
            (Chain::Direct, End::TryFold) => over(
                stream
                    .try_fold(order, |mut order, item| sink($world, &mut order, &item).map(|()| order))
                    .map(|_| ()),
            ),
            (Chain::Direct, End::Iter) if $pooled.is_some() => {
                $pooled.take().map_or(Ended::Complete, |end| end(stream))
            }
            (Chain::Direct, End::Iter) => {
                over(stream.with_iter(|items| items.for_each(|item| surely(&mut order, &item))))
            }
            (Chain::Direct, End::Fold) => over(
                stream
                    .fold(order, |mut order, item| {
                        surely(&mut order, &item);
                        order
                    })
                    .map(|_| ()),
            ),
            (Chain::Direct, End::TryForEach) => run!(stream, $world, at),
            (Chain::Map, _) => run!(stream.map(map($world, node(at, 0))), $world, at),
            (Chain::TryMap, _) => run!(stream.try_map(try_map($world, node(at, 0))), $world, at),
            (Chain::FlatMap, _) => run!(stream.flat_map(flat_map($world, node(at, 0))), $world, at),
            _ => {
                let stream = stream.try_map_with(local($world), try_map_with($world, node(at, 0)));
                run!(stream, $world, at)
            }
        }
    }};
}

/// The executor that runs a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    Inline,
    Threads,
    /// The threads of a pool alone: see [`run_pooled`].
    Pooled,
}

/// The end of a stream that the threads of a pool run alone.
type PooledEnd<'e, 'w> = Option<Box<dyn FnOnce(TryStream<'w, Item<'w>, Planted>) -> Ended + 'e>>;

/// The name of the threads of a run.
pub fn title(world: &World<'_>) -> String {
    format!("c{:x}", std::ptr::from_ref(world).addr() & 0xFFFF_FFFF)
}

fn build_and_run<'w>(world: &'w World<'w>, executor: Executor, mut pooled: PooledEnd<'_, 'w>) -> Ended {
    let case = world.case;
    let stream = match executor {
        Executor::Pooled => Stream::try_from_async(Hesitant::new(Source::new(world))),
        Executor::Inline | Executor::Threads => Stream::try_from_iter(Source::new(world)),
    };
    let mut stream = stream.workers(case.workers).window(case.window).title(title(world));
    if let Some(burst) = case.burst {
        stream = stream.burst(burst);
    }
    if executor == Executor::Inline {
        stream = stream.inline();
    }
    let mut at = 0;
    let mut stream = loop {
        if case.in_blocks {
            break stream.never_waits();
        }
        let Some(segment) = case.segments.get(at) else { return finish!(stream, world, pooled) };
        if segment.chain.is_flat() {
            let stream = stretch!(flat segment.chain, stream, world, at);
            at += 1;
            break flat_serial!(stream, world, at - 1);
        }
        stream = stretch!(single segment.chain, stream, world, at);
        stream = serial!(stream, world, at);
        at += 1;
    };
    for at in at..case.segments.len() {
        let chain = case.segments[at].chain;
        stream = if chain.is_flat() {
            stretch!(flat chain, stream, world, at)
        } else {
            stretch!(single chain, stream, world, at)
        };
        stream = flat_serial!(stream, world, at);
    }
    finish!(stream, world, pooled)
}

/// An asynchronous stream that is pending now and then, and wakes its reader at once or later.
struct Hesitant<I> {
    items: I,
    polls: u32,
}

impl<I> Hesitant<I> {
    fn new(items: I) -> Self {
        Self { items, polls: 0 }
    }
}

impl<I: Iterator + Unpin> futures::Stream for Hesitant<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<I::Item>> {
        self.polls += 1;
        let waker = context.waker().clone();
        match self.polls % 16 {
            5 => waker.wake(),
            11 => drop(std::thread::spawn(move || waker.wake())),
            _ => return Poll::Ready(self.items.next()),
        }
        Poll::Pending
    }
}

/// The observations of a run.
#[derive(Debug)]
pub struct Observed {
    pub seen: Seen,
    /// Violations of the contract, during the run and after it.
    pub violations: Vec<String>,
    /// On how many threads user code ran.
    pub threads: usize,
    /// The name of its threads.
    pub title: String,
}

/// Runs a case with the crate.
///
/// # Panics
/// If the run panics with anything but a planted panic.
pub fn run(case: &Case, executor: Executor) -> Observed {
    let world = World::new(case, executor == Executor::Threads);
    observe(&world, || build_and_run(&world, executor, None))
}

/// Runs a case that ends in an iterator, with the threads of a pool for `threads` alone. The case and what the run records stay
/// in memory, because such a stream owns what it uses.
///
/// # Panics
/// If the run panics with anything but a planted panic.
pub fn run_pooled(case: &Case, threads: usize) -> Observed {
    let case: &'static Case = Box::leak(Box::new(case.clone()));
    // The box before the end has a window of its own.
    let world: &'static World<'static> = Box::leak(Box::new(World::wider(case, case.window)));
    let pool = Arc::new(Pool::new(threads));
    let end = |stream: TryStream<'static, Item<'static>, Planted>| {
        let mut order = InOrder::default();
        for item in stream.pool(&pool) {
            match item {
                Ok(item) => {
                    sink(world, &mut order, &item).unwrap_or_else(|planted| panic_any(planted));
                }
                Err(planted) => return Ended::Error(planted),
            }
        }
        Ended::Complete
    };
    observe(world, || build_and_run(world, Executor::Pooled, Some(Box::new(end))))
}

fn observe(world: &World<'_>, run: impl FnOnce() -> Ended) -> Observed {
    let ended = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(ended) => ended,
        Err(payload) => match payload.downcast::<Planted>() {
            Ok(planted) => Ended::Panic(*planted),
            Err(payload) => resume_unwind(payload),
        },
    };
    if let Ended::Error(planted) | Ended::Panic(planted) = &ended {
        planted.bomb.disarm();
    }
    let of = |log: &Mutex<Vec<u64>>| log.lock().unwrap().clone();
    let seen = Seen {
        delivered: of(&world.delivered),
        ended,
        serial: world.serial.iter().map(of).collect(),
        asked: world.asked.load(Ordering::SeqCst),
    };
    Observed { seen, violations: world.violations(), threads: world.threads(), title: title(world) }
}
