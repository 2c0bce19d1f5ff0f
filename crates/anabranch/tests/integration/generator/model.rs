//! The plain loop: the meaning of a case, written without the crate.

use std::collections::{HashMap, VecDeque};

use super::case::{Case, End, Fault, Kind, Need, SINK, SOURCE, Step, Way};
use super::keys::{children, group, keeps, time};
use crate::contract_support::planted::mix;

/// The number of the first item that is in a loop from the start. No fault is planted for such items.
pub const INSIDE: u64 = 1 << 40;
/// The number of the first item that is chained or interleaved.
pub const OTHERS: u64 = 1 << 41;

/// The place of a failure: its node, the item of the source, and the child of it.
pub type Place = (usize, u64, u64);

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// After all items, or because a step or the end needed no more.
    Complete,
    /// With the item that was searched for.
    Found(u64),
    Error(Place),
    Panic(Place),
    /// An item needs one that does not come.
    Missing,
}

/// The record of the loop.
#[derive(Debug)]
pub struct Loop {
    pub delivered: Vec<u64>,
    pub ended: Ended,
    /// The items that each serial step has seen, by its node.
    pub logs: Vec<Vec<u64>>,
    /// How many items the source was asked for and had.
    pub asked: usize,
    /// Whether the loop came to the end of its source.
    pub is_whole: bool,
    /// For each time the source is asked, how many items the sink has then.
    pub before: Vec<usize>,
    /// For each call that needs results, how many items the sink has then. By the node and the key of the item.
    pub calls: HashMap<(usize, u64), usize>,
    /// Whether a call has cancelled the run: where, and whether it panicked.
    pub cancelled: Option<(Place, bool)>,
}

/// A lap in a loop: the mark of the item that goes round again or leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Again(usize),
    Done(usize),
}

/// The fate of an item that has gone through a loop.
pub fn laps(key: u64, flat: bool) -> &'static [Mark] {
    match (flat, key % 8) {
        (false, 0..3) => &[Mark::Again(1)],
        (false, _) => &[Mark::Done(2)],
        (true, 0..3) => &[Mark::Done(2)],
        (true, 3) => &[],
        (true, 4) => &[Mark::Again(3), Mark::Done(4), Mark::Again(5)],
        (true, _) => &[Mark::Again(1)],
    }
}

#[derive(Debug, Clone, Copy)]
struct Plain {
    key: u64,
    origin: u64,
    path: u64,
}

impl Plain {
    fn of(origin: u64) -> Self {
        Self { key: mix(origin, 0), origin, path: 0 }
    }

    fn child(self, number: u64) -> Self {
        Self { key: mix(self.key, number), path: self.path << 2 | number, ..self }
    }

    fn marked(self, mark: usize) -> Self {
        Self { key: mix(self.key, mark as u64), ..self }
    }

    fn merge(items: &[Self]) -> Self {
        let last = *items.last().expect("several items are not none");
        Self { key: items.iter().fold(items.len() as u64, |key, item| mix(key, item.key)), ..last }
    }
}

/// The reason why the loop is left.
enum Halt {
    /// Step `at` of the outer line needs no more items. The steps after it may give their last results.
    Break(usize),
    End(Ended),
}

type Then<R = ()> = Result<R, Halt>;

/// The state of a step.
#[derive(Default, Clone)]
struct State {
    count: u64,
    sum: u64,
    items: Vec<Plain>,
    /// The time of the last item, and the number of the next one.
    time: u64,
    /// Items that go round again, each with the place from which on.
    waiting: VecDeque<(u64, Plain)>,
    groups: [u64; 3],
    /// The results of a step whose items need others.
    results: Vec<u64>,
}

struct Run<'c> {
    case: &'c Case,
    /// The node of each step of the outer line.
    nodes: Vec<usize>,
    /// By node, as the logs.
    states: Vec<State>,
    seen: Loop,
}

/// Runs a case as the loop that it stands for.
pub fn plain_loop(case: &Case) -> Loop {
    let nodes = case.count_nodes();
    let seen = Loop {
        delivered: Vec::new(),
        ended: Ended::Complete,
        logs: vec![Vec::new(); nodes],
        asked: 0,
        is_whole: false,
        before: Vec::new(),
        calls: HashMap::new(),
        cancelled: None,
    };
    let mut run = Run { case, nodes: case.places(), states: vec![State::default(); nodes], seen };
    let ended = run.run();
    Loop { ended, is_whole: run.seen.is_whole && ended == Ended::Complete, ..run.seen }
}

impl Run<'_> {
    fn run(&mut self) -> Ended {
        // Nothing passes a step that takes no item, and the source is not asked.
        let closed = self.nodes.iter().rposition(|&node| node == self.case.closed() && node > 0);
        let begun = self.begin(closed.map_or(0, |at| at + 1));
        let pulled = begun.and_then(|()| match closed {
            Some(at) => Err(Halt::Break(at)),
            None => self.pull(),
        });
        match pulled {
            Ok(()) => self.flush(0),
            Err(Halt::Break(at)) => self.flush(at + 1),
            Err(Halt::End(ended)) => ended,
        }
    }

    /// Lets the items enter that are in loops from the start, from step `from` on.
    fn begin(&mut self, from: usize) -> Then {
        for at in (from..self.case.steps.len()).rev() {
            if let Step::Feedback { first, .. } = self.case.steps[at] {
                let inside = (0..first).map(|n| (0, Plain::of(INSIDE + n)));
                self.states[self.nodes[at]].waiting = inside.collect();
                self.again(at, false)?;
            }
        }
        Ok(())
    }

    fn pull(&mut self) -> Then {
        for origin in 0..self.case.items {
            self.seen.before.push(self.seen.delivered.len());
            self.seen.asked += 1;
            let item = Plain::of(origin);
            self.visit(SOURCE, item, true, false)?;
            self.feed(0, item)?;
        }
        self.seen.before.push(self.seen.delivered.len());
        self.seen.is_whole = true;
        Ok(())
    }

    /// The planted fault of an item at a node. In a call that cannot return an error, an error becomes a panic.
    fn visit(&mut self, node: usize, item: Plain, fallible: bool, child: bool) -> Then {
        let place = (node, item.origin, item.path);
        let Some(&Fault { kind, .. }) = self.case.fault(node, item.origin, item.path, child) else {
            return Ok(());
        };
        Err(Halt::End(match kind {
            // The comparison knows after how many items.
            Kind::Drain => return Ok(()),
            Kind::Error if fallible => Ended::Error(place),
            Kind::Error | Kind::Panic => Ended::Panic(place),
            Kind::Cancel | Kind::CancelAndPanic => {
                self.seen.cancelled = self.seen.cancelled.or(Some((place, kind == Kind::CancelAndPanic)));
                return Ok(());
            }
        }))
    }

    /// A call of a serial step.
    fn meet(&mut self, node: usize, item: Plain, fallible: bool) -> Then {
        self.seen.logs[node].push(item.key);
        self.visit(node, item, fallible, false)
    }

    /// The results of inner steps for an item, and whether the stream ends with it.
    fn through(&mut self, steps: &[Step], first: usize, item: Plain) -> Then<(Option<Plain>, bool)> {
        let (mut item, mut node, mut ends) = (item, first, false);
        for step in steps {
            let (given, ends_here) = self.one(step, node, item)?;
            ends |= ends_here;
            let Some(given) = given else { return Ok((None, ends)) };
            item = given;
            node += step.nodes();
        }
        Ok((Some(item), ends))
    }

    /// A step that gives at most one item for each: what it gives, and whether the stream ends with it.
    fn one(&mut self, step: &Step, node: usize, item: Plain) -> Then<(Option<Plain>, bool)> {
        let fallible = step.is_fallible();
        let marked = item.marked(node);
        let kept = keeps(item.key, node);
        let given = match *step {
            Step::Map
            | Step::Try
            | Step::With
            | Step::TryWith
            | Step::Farm
            | Step::TryFarm
            | Step::Through
            | Step::NewError
            | Step::MapAsync(_)
            | Step::TryMapAsync(_) => {
                self.visit(node, item, fallible, false)?;
                Some(marked)
            }
            Step::Inspect => {
                self.visit(node, item, fallible, false)?;
                Some(item)
            }
            Step::Filter
            | Step::FilterMap
            | Step::TryFilterMap
            | Step::FilterMapAsync(_)
            | Step::TryFilterMapAsync(_) => {
                self.visit(node, item, fallible, false)?;
                kept.then_some(if *step == Step::Filter { item } else { marked })
            }
            Step::Sharded(_) | Step::TrySharded(_) | Step::ByKey => {
                self.visit(node, item, fallible, false)?;
                let state = &mut self.states[node].groups[group(item.key) as usize];
                *state = mix(*state, item.key);
                Some(Plain { key: *state, ..item })
            }
            Step::CountBytes | Step::Throttle | Step::Unordered | Step::Spread => Some(item),
            Step::Each | Step::TryEach | Step::ReadyChunks(_) => {
                self.meet(node, item, fallible)?;
                Some(marked)
            }
            Step::Option | Step::TryOption => {
                self.meet(node, item, fallible)?;
                kept.then_some(marked)
            }
            // In a branch or a loop.
            Step::Take(0) => return Ok((None, true)),
            Step::Take(most) => {
                self.states[node].count += 1;
                return Ok((Some(item), self.states[node].count == most as u64));
            }
            Step::TakeWhile(limit) | Step::MapWhile(limit) | Step::Scan(limit) => {
                self.meet(node, item, fallible)?;
                if item.origin >= limit {
                    return Ok((None, true));
                }
                if let Step::Scan(_) = step {
                    let sum = &mut self.states[node].sum;
                    *sum = mix(*sum, item.key);
                    Some(Plain { key: *sum, ..item })
                } else {
                    Some(item)
                }
            }
            Step::Enumerate | Step::Zip(_) => {
                let count = &mut self.states[node].count;
                if *step == Step::Zip(*count) {
                    return Ok((None, true));
                }
                *count += 1;
                Some(item.marked(*count as usize - 1))
            }
            Step::Skip(count) => {
                self.states[node].count += 1;
                (self.states[node].count > count as u64).then_some(item)
            }
            Step::EveryNth(step) => {
                self.states[node].count += 1;
                (self.states[node].count - 1).is_multiple_of(step as u64).then_some(item)
            }
            Step::Fork(way, ref branches) => {
                let (given, ends) = self.branches(way, branches, node, item)?;
                let least = if way == Way::Zip { branches.len() } else { 1 };
                return Ok(((given.len() >= least).then(|| Plain::merge(&given)), ends));
            }
            _ => unreachable!("{step:?} gives more"),
        };
        Ok((given, false))
    }

    /// The results of the branches that take an item, and whether the stream ends with it.
    fn branches(
        &mut self,
        way: Way,
        branches: &[Vec<Step>],
        node: usize,
        item: Plain,
    ) -> Then<(Vec<Plain>, bool)> {
        let count = branches.len() as u64;
        let chosen = match way {
            Way::Zip | Way::Merge => None,
            Way::Chosen => Some(item.key % count),
            Way::InTurn => Some(self.states[node].count % count),
            Way::ByKey => Some(0),
        };
        self.states[node].count += 1;
        let (mut given, mut ends, mut first) = (Vec::new(), false, node + 1);
        for (number, steps) in (0..).zip(branches) {
            if chosen.is_none_or(|chosen| chosen == number) {
                let (result, ends_here) = self.through(steps, first, item)?;
                ends |= ends_here;
                match result {
                    Some(result) if way == Way::Merge && number == 0 => {
                        given.extend([result.child(0), result.child(1)]);
                    }
                    result => given.extend(result),
                }
            }
            first += steps.iter().map(Step::nodes).sum::<usize>();
        }
        Ok((given, ends))
    }

    fn feed(&mut self, at: usize, item: Plain) -> Then {
        let case = self.case;
        let Some(step) = case.steps.get(at) else { return self.sink(item) };
        let node = self.nodes[at];
        match *step {
            Step::Flat
            | Step::SerialFlat
            | Step::TrySerialFlat
            | Step::SerialSpread
            | Step::TrySerialSpread => {
                let fallible = step.is_fallible();
                if *step == Step::Flat {
                    self.visit(node, item, fallible, false)?;
                } else {
                    self.meet(node, item, fallible)?;
                }
                (0..children(item.key, node)).try_for_each(|number| {
                    let child = item.child(number);
                    self.visit(node, child, fallible, true)?;
                    self.feed(at + 1, child)
                })
            }
            Step::TryFlat => {
                self.visit(node, item, true, false)?;
                // All children are made before the first is taken.
                let (mut made, mut failure) = (Vec::new(), Ok(()));
                for number in 0..children(item.key, node) {
                    failure = self.visit(node, item.child(number), true, true);
                    if failure.is_err() {
                        break;
                    }
                    made.push(item.child(number));
                }
                if matches!(failure, Err(Halt::End(Ended::Panic(_)))) {
                    return failure;
                }
                made.into_iter().try_for_each(|child| self.feed(at + 1, child))?;
                failure
            }
            Step::Chunks(size) | Step::WindowsByKey(size) => {
                let items = &mut self.states[node].items;
                items.push(item);
                if items.len() == size { self.give_all(at) } else { Ok(()) }
            }
            Step::Windows(size, step) | Step::Aggregated(size, step) => {
                let begin = self.begin_of_window(node, size, step);
                let state = &mut self.states[node];
                state.count += 1;
                if state.count > begin {
                    state.items.push(item);
                }
                if state.count < begin + size as u64 {
                    return Ok(());
                }
                let window = state.items.clone();
                state.items.drain(..step.min(size));
                self.give(at, &window)
            }
            Step::ChunkBy | Step::Times(_) | Step::Sessions(_) => {
                let state = &mut self.states[node];
                let (time, last) = (time(state.count, item.key), state.time);
                let begins = state.items.last().is_some_and(|before| match *step {
                    Step::Times(length) => time / length != last / length,
                    Step::Sessions(gap) => time - last >= gap,
                    _ => group(before.key) != group(item.key),
                });
                state.count += 1;
                if begins {
                    self.give_all(at)?;
                }
                let state = &mut self.states[node];
                state.time = time;
                state.items.push(item);
                Ok(())
            }
            Step::SortedWithin(window) => {
                let items = &mut self.states[node].items;
                items.push(item);
                if items.len() > window { self.give_least(at) } else { Ok(()) }
            }
            Step::Chain(_) => self.feed(at + 1, item),
            Step::Interleave(most) => {
                self.feed(at + 1, item)?;
                let number = self.states[node].count;
                if number == most {
                    return Ok(());
                }
                self.states[node].count += 1;
                self.feed(at + 1, Plain::of(OTHERS + number))
            }
            Step::Needing(need) => {
                self.states[node].items.push(item);
                self.results(at, need)
            }
            Step::Feedback { .. } => {
                self.again(at, false)?;
                self.enter(at, item)?;
                self.again(at, false)
            }
            Step::Fork(Way::Merge, ref branches) => {
                let (given, ends) = self.branches(Way::Merge, branches, node, item)?;
                given.into_iter().try_for_each(|item| self.feed(at + 1, item))?;
                if ends { Err(Halt::Break(at)) } else { Ok(()) }
            }
            _ => {
                let (given, ends) = self.one(step, node, item)?;
                given.into_iter().try_for_each(|item| self.feed(at + 1, item))?;
                if ends { Err(Halt::Break(at)) } else { Ok(()) }
            }
        }
    }

    /// The number of the item with which the next window of `node` begins.
    fn begin_of_window(&self, node: usize, size: usize, step: usize) -> u64 {
        let (seen, size, step) = (self.states[node].count, size as u64, step as u64);
        seen.checked_sub(size).map_or(0, |behind| (behind / step + 1) * step)
    }

    /// Lets items enter a loop again that may: at the next place, or at any with `all`.
    fn again(&mut self, at: usize, all: bool) -> Then {
        let node = self.nodes[at];
        loop {
            let state = &mut self.states[node];
            match state.waiting.front() {
                Some(&(due, item)) if all || due <= state.count => {
                    state.waiting.pop_front();
                    self.enter(at, item)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn enter(&mut self, at: usize, item: Plain) -> Then {
        let case = self.case;
        let Step::Feedback { flat, places, ref stages, .. } = case.steps[at] else {
            unreachable!("it is a loop")
        };
        let node = self.nodes[at];
        let place = self.states[node].count;
        self.states[node].count += 1;
        let (given, ends) = self.through(stages, node + 1, item)?;
        let mut done = Vec::new();
        let laps = given.iter().flat_map(|item| laps(item.key, flat).iter().map(move |mark| (*item, *mark)));
        for (item, mark) in laps {
            match mark {
                Mark::Again(mark) => {
                    let due = place.saturating_add(places as u64);
                    self.states[node].waiting.push_back((due, item.marked(mark)));
                }
                Mark::Done(mark) => done.push(item.marked(mark)),
            }
        }
        done.into_iter().try_for_each(|item| self.feed(at + 1, item))?;
        if ends { Err(Halt::Break(at)) } else { Ok(()) }
    }

    /// Gives several items as one.
    fn give(&mut self, at: usize, items: &[Plain]) -> Then {
        let item = Plain::merge(items);
        self.meet(self.nodes[at], item, false)?;
        self.feed(at + 1, item)
    }

    fn give_all(&mut self, at: usize) -> Then {
        let items = std::mem::take(&mut self.states[self.nodes[at]].items);
        self.give(at, &items)
    }

    fn give_least(&mut self, at: usize) -> Then {
        let items = &mut self.states[self.nodes[at]].items;
        let least = (0..items.len()).min_by_key(|&n| items[n].key).expect("there is an item");
        let item = items.remove(least);
        self.feed(at + 1, item)
    }

    /// Gives the results of the first items whose needs have come.
    fn results(&mut self, at: usize, need: Need) -> Then {
        let node = self.nodes[at];
        loop {
            let State { items, results, .. } = &self.states[node];
            let number = results.len();
            let Some(&item) = items.get(number) else { return Ok(()) };
            if !need.of(number as u64, item.key).into_iter().all(|needed| (needed as usize) < items.len()) {
                return Ok(());
            }
            let key = self.result(node, need, number)?;
            self.states[node].results.push(key);
            self.feed(at + 1, Plain { key, ..item })?;
        }
    }

    fn result(&mut self, node: usize, need: Need, number: usize) -> Then<u64> {
        if let Some(&known) = self.states[node].results.get(number) {
            return Ok(known);
        }
        let item = self.states[node].items[number];
        let mut key = item.key;
        for needed in need.of(number as u64, item.key) {
            key = mix(key, self.result(node, need, needed as usize)?);
        }
        // Several items may have one key. The first of them waits for least.
        self.seen.calls.entry((node, item.key)).or_insert(self.seen.delivered.len());
        self.visit(node, item, true, false).map(|()| key)
    }

    /// Runs the end of the stream, from step `from` on.
    fn flush(&mut self, from: usize) -> Ended {
        for at in from..self.case.steps.len() {
            let node = self.nodes[at];
            let begin = match self.case.steps[at] {
                Step::Windows(size, step) | Step::Aggregated(size, step) => {
                    // Only what is behind the last window is in one more.
                    let begin = self.begin_of_window(node, size, step);
                    let seen = self.states[node].count;
                    seen > if seen < size as u64 {
                        0
                    } else {
                        (begin + size as u64).saturating_sub(step as u64)
                    }
                }
                _ => true,
            };
            let has_items = !self.states[node].items.is_empty();
            let then = match self.case.steps[at] {
                Step::Chunks(_)
                | Step::ChunkBy
                | Step::Windows(..)
                | Step::Aggregated(..)
                | Step::WindowsByKey(_)
                | Step::Times(_)
                | Step::Sessions(_)
                    if has_items && begin =>
                {
                    self.give_all(at)
                }
                Step::Chain(most) => (0..most).try_for_each(|n| self.feed(at + 1, Plain::of(OTHERS + n))),
                Step::Interleave(most) => {
                    (self.states[node].count..most).try_for_each(|n| self.feed(at + 1, Plain::of(OTHERS + n)))
                }
                Step::SortedWithin(_) => {
                    (0..self.states[node].items.len()).try_for_each(|_| self.give_least(at))
                }
                Step::Feedback { .. } => self.again(at, true),
                Step::Needing(_) if self.states[node].results.len() < self.states[node].items.len() => {
                    return Ended::Missing;
                }
                _ => Ok(()),
            };
            match then {
                Ok(()) => {}
                Err(Halt::Break(at)) => {
                    self.seen.is_whole = false;
                    return self.flush(at + 1);
                }
                Err(Halt::End(ended)) => return ended,
            }
        }
        Ended::Complete
    }

    fn sink(&mut self, item: Plain) -> Then {
        self.seen.delivered.push(item.key);
        self.visit(SINK, item, self.case.has_fallible_end(), false)?;
        match self.case.end {
            End::Find(limit) | End::Any(limit) | End::All(limit) if item.origin >= limit => {
                Err(Halt::End(Ended::Found(item.key)))
            }
            _ => Ok(()),
        }
    }
}
