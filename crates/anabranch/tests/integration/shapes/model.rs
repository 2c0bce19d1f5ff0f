//! The plain loop that a random shape stands for, written without the crate.

use std::collections::{HashMap, VecDeque};

use super::case::{Case, Kind, Need, Step};
use super::stream::Item;
use crate::contract_support::world::mix;

/// The number of the first item that is in a loop from the start. No fault is planted for such items.
pub const INSIDE: u64 = 1_000;
/// The number of the first item that is chained or interleaved.
pub const OTHERS: u64 = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Complete,
    Error(usize, u64),
    Panic(usize, u64),
    /// An item needs one that does not come.
    Missing,
}

/// What the loop does.
#[derive(Debug)]
pub struct Loop {
    pub delivered: Vec<u64>,
    pub ended: Ended,
    /// For each time the source is asked, how many items the sink has then.
    pub before: Vec<usize>,
    /// For each call that needs results, how many items the sink has then. By the node and the key of the item.
    pub calls: HashMap<(usize, u64), usize>,
    /// Whether a call has cancelled the run: at which node and item, and whether it panicked.
    pub cancelled: Option<(usize, u64, bool)>,
}

pub fn filtered(key: u64) -> bool {
    key % 4 != 1
}

pub fn children(key: u64) -> u64 {
    key % 3
}

/// Whether an item that has gone through a loop goes round again.
pub fn goes_round(key: u64) -> bool {
    key.is_multiple_of(3)
}

pub fn group(key: u64) -> u64 {
    key / 8 % 3
}

/// The item that stands for several.
pub fn merged(items: &[Item]) -> Item {
    let last = items.last().expect("there is an item");
    Item { key: items.iter().fold(7, |key, item| mix(key, item.key)), ..*last }
}

/// Why the loop is left.
enum Halt {
    /// Step `at` needs no more items.
    Break(usize),
    End(Ended),
}

type Flow = Result<(), Halt>;

/// What a step keeps.
#[derive(Default, Clone)]
struct State {
    count: u64,
    items: Vec<Item>,
    /// Items that go round again, each with the place from which on.
    waiting: VecDeque<(u64, Item)>,
    sums: [u64; 3],
    /// The results of a stage whose items need others.
    results: Vec<Result<u64, Ended>>,
}

struct Run<'c> {
    case: &'c Case,
    states: Vec<State>,
    delivered: Vec<u64>,
    calls: HashMap<(usize, u64), usize>,
    cancelled: Option<(usize, u64, bool)>,
}

/// Runs a case as the loop that it stands for.
pub fn plain_loop(case: &Case) -> Loop {
    let states = vec![State::default(); case.steps.len()];
    let mut run = Run { case, states, delivered: Vec::new(), calls: HashMap::new(), cancelled: None };
    let mut before = Vec::new();
    let ended = run.run(&mut before);
    Loop { delivered: run.delivered, ended, before, calls: run.calls, cancelled: run.cancelled }
}

impl Run<'_> {
    fn run(&mut self, before: &mut Vec<usize>) -> Ended {
        // Nothing passes a stage that takes no item, and the source is not asked.
        let closed = self.case.steps.iter().rposition(|step| *step == Step::Take(0));
        let from = closed.map_or(0, |at| at + 1);
        let mut pull =
            |run: &mut Self| if closed.is_some() { Err(Halt::Break(from - 1)) } else { run.pull(before) };
        match self.begin(from).and_then(|()| pull(self)) {
            Ok(()) => self.flush(0),
            Err(Halt::Break(at)) => self.flush(at + 1),
            Err(Halt::End(ended)) => ended,
        }
    }

    /// Lets the items enter that are in loops from the start, from step `from` on.
    fn begin(&mut self, from: usize) -> Flow {
        for at in (from..self.case.steps.len()).rev() {
            if let Step::Feedback { first, .. } = self.case.steps[at] {
                self.states[at].waiting = (0..first).map(|n| (0, Item::inside(n))).collect();
                self.again(at, false)?;
            }
        }
        Ok(())
    }

    fn pull(&mut self, before: &mut Vec<usize>) -> Flow {
        for origin in 0..self.case.items {
            before.push(self.delivered.len());
            let item = Item::of_source(origin);
            self.visit(0, item, true)?;
            self.feed(0, item)?;
        }
        before.push(self.delivered.len());
        Ok(())
    }

    fn visit(&mut self, node: usize, item: Item, fallible: bool) -> Flow {
        let Some(kind) = self.case.fault(node, item.origin) else { return Ok(()) };
        let ended = match kind {
            Kind::Error if fallible => Ended::Error(node, item.origin),
            Kind::Error | Kind::Panic => Ended::Panic(node, item.origin),
            Kind::Cancel | Kind::CancelAndPanic => {
                let panics = kind == Kind::CancelAndPanic;
                self.cancelled = self.cancelled.or(Some((node, item.origin, panics)));
                return Ok(());
            }
        };
        Err(Halt::End(ended))
    }

    fn feed(&mut self, at: usize, item: Item) -> Flow {
        let Some(&step) = self.case.steps.get(at) else { return self.sink(item) };
        let node = at + 1;
        let marked = item.marked(node);
        match step {
            Step::Map | Step::With | Step::Through | Step::MapAsync(_) | Step::Each | Step::EachUnordered => {
                self.visit(node, item, false)?;
                self.feed(at + 1, marked)
            }
            Step::Try | Step::TryMapAsync(_) | Step::NewError | Step::TryEach => {
                self.visit(node, item, true)?;
                self.feed(at + 1, marked)
            }
            Step::MapTry => {
                self.visit(node, item, true)?;
                self.feed(at + 1, marked.marked(node))
            }
            Step::Filter | Step::FilterMapAsync(_) => {
                self.visit(node, item, false)?;
                if filtered(item.key) { self.feed(at + 1, item) } else { Ok(()) }
            }
            Step::Flat | Step::SerialFlat | Step::FlatSpread => {
                self.visit(node, item, false)?;
                (0..children(item.key)).try_for_each(|child| self.feed(at + 1, marked.marked(child as usize)))
            }
            Step::TryFlat => {
                self.visit(node, item, true)?;
                (0..children(item.key)).try_for_each(|child| self.feed(at + 1, marked.marked(child as usize)))
            }
            Step::FlatTry => (0..children(item.key)).try_for_each(|child| {
                let child = item.marked(child as usize);
                self.visit(node, child, true)?;
                self.feed(at + 1, child.marked(node))
            }),
            Step::Sharded(_) => {
                self.visit(node, item, false)?;
                let sum = &mut self.states[at].sums[group(item.key) as usize];
                *sum = mix(*sum, item.key);
                let key = *sum;
                self.feed(at + 1, Item { key, ..item })
            }
            Step::Unordered => self.feed(at + 1, item),
            Step::Take(most) => {
                self.states[at].count += 1;
                self.feed(at + 1, item)?;
                if self.states[at].count == most as u64 { Err(Halt::Break(at)) } else { Ok(()) }
            }
            Step::Batch(size) | Step::Windows(size) => {
                self.states[at].items.push(item);
                if self.states[at].items.len() == size { self.give(at) } else { Ok(()) }
            }
            Step::ChunkBy => {
                let is_new =
                    self.states[at].items.last().is_some_and(|last| group(last.key) != group(item.key));
                if is_new {
                    self.give(at)?;
                }
                self.states[at].items.push(item);
                Ok(())
            }
            Step::Chain(_) => self.feed(at + 1, item),
            Step::Interleave(most) => {
                self.feed(at + 1, item)?;
                let number = self.states[at].count;
                if number == most {
                    return Ok(());
                }
                self.states[at].count += 1;
                self.feed(at + 1, Item::other(number))
            }
            Step::SortedWithin(window) => {
                self.states[at].items.push(item);
                if self.states[at].items.len() > window { self.give_least(at) } else { Ok(()) }
            }
            Step::ReadyChunks(_) => {
                self.visit(node, item, false)?;
                self.feed(at + 1, marked)
            }
            Step::Merge => {
                // Both branches take the item before the join.
                self.visit(node, item, true)?;
                self.feed(at + 1, marked)?;
                self.feed(at + 1, marked.marked(node))
            }
            Step::Feedback { .. } => {
                self.again(at, false)?;
                self.enter(at, item)?;
                self.again(at, false)
            }
            Step::Needing(need) => {
                self.states[at].items.push(item);
                self.results(at, need)
            }
        }
    }

    /// Lets items enter a loop again that may: at the next place, or at any with `all`.
    fn again(&mut self, at: usize, all: bool) -> Flow {
        loop {
            let state = &mut self.states[at];
            match state.waiting.front() {
                Some(&(due, item)) if all || due <= state.count => {
                    state.waiting.pop_front();
                    self.enter(at, item)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn enter(&mut self, at: usize, item: Item) -> Flow {
        let Step::Feedback { places, flat, .. } = self.case.steps[at] else { unreachable!("it is a loop") };
        let node = at + 1;
        let place = self.states[at].count;
        self.states[at].count += 1;
        self.visit(node, item, true)?;
        let marked = item.marked(node);
        let again = (place + places as u64, marked);
        if flat {
            // A lap may give a result and go on.
            if goes_round(marked.key) {
                self.states[at].waiting.push_back(again);
            }
            self.feed(at + 1, marked)
        } else if goes_round(marked.key) {
            self.states[at].waiting.push_back(again);
            Ok(())
        } else {
            self.feed(at + 1, marked)
        }
    }

    /// Gives what a step has gathered, as one item.
    fn give(&mut self, at: usize) -> Flow {
        let items = std::mem::take(&mut self.states[at].items);
        let item = merged(&items);
        self.visit(at + 1, item, false)?;
        self.feed(at + 1, item)
    }

    fn give_least(&mut self, at: usize) -> Flow {
        let items = &mut self.states[at].items;
        let least = (0..items.len()).min_by_key(|&n| items[n].key).expect("there is an item");
        let item = items.remove(least);
        self.feed(at + 1, item)
    }

    /// Gives the results of the first items whose needs have come.
    fn results(&mut self, at: usize, need: Need) -> Flow {
        loop {
            let number = self.states[at].results.len();
            let items = &self.states[at].items;
            let has_come = |number: usize| number < items.len();
            let Some(item) = items.get(number).copied() else { return Ok(()) };
            if !need.of(number as u64, item.key).into_iter().all(|needed| has_come(needed as usize)) {
                return Ok(());
            }
            let result = self.result(at, need, number);
            let result = match result {
                Ok(result) => result,
                Err(ended) => return Err(Halt::End(ended)),
            };
            self.states[at].results.push(Ok(result));
            self.feed(at + 1, Item { key: result, ..item })?;
        }
    }

    fn result(&mut self, at: usize, need: Need, number: usize) -> Result<u64, Ended> {
        if let Some(known) = self.states[at].results.get(number) {
            return *known;
        }
        let item = self.states[at].items[number];
        let mut key = item.key;
        for needed in need.of(number as u64, item.key) {
            key = mix(key, self.result(at, need, needed as usize)?);
        }
        // Several items may have one key. The first of them waits for least.
        self.calls.entry((at + 1, item.key)).or_insert(self.delivered.len());
        match self.visit(at + 1, item, true) {
            Ok(()) => Ok(key),
            Err(Halt::End(ended)) => Err(ended),
            Err(Halt::Break(_)) => unreachable!("a call breaks nothing"),
        }
    }

    /// Runs the end of the stream, from step `from` on.
    fn flush(&mut self, from: usize) -> Ended {
        for at in from..self.case.steps.len() {
            let flow = match self.case.steps[at] {
                Step::Batch(_) | Step::Windows(_) | Step::ChunkBy if !self.states[at].items.is_empty() => {
                    self.give(at)
                }
                Step::Chain(most) => (0..most).try_for_each(|n| self.feed(at + 1, Item::other(n))),
                Step::Interleave(most) => {
                    (self.states[at].count..most).try_for_each(|n| self.feed(at + 1, Item::other(n)))
                }
                Step::SortedWithin(_) => {
                    (0..self.states[at].items.len()).try_for_each(|_| self.give_least(at))
                }
                Step::Feedback { .. } => self.again(at, true),
                Step::Needing(_) if self.states[at].results.len() < self.states[at].items.len() => {
                    return Ended::Missing;
                }
                _ => Ok(()),
            };
            match flow {
                Ok(()) => {}
                Err(Halt::Break(at)) => return self.flush(at + 1),
                Err(Halt::End(ended)) => return ended,
            }
        }
        Ended::Complete
    }

    fn sink(&mut self, item: Item) -> Flow {
        self.delivered.push(item.key);
        self.visit(self.case.sink(), item, self.case.has_fallible_end())
    }
}
