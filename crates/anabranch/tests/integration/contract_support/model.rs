//! The plain loop: the meaning of a case, written without the crate.

use super::case::{Case, End, Fault, Kind, Op, Serial, Way, node};
use super::world::{Bomb, Planted, SINK, SOURCE, mix};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// After all items, or because a stage or the end needed no more.
    Complete,
    /// With the item that was searched for.
    Found(u64),
    Error(Planted),
    Panic(Planted),
}

/// The visible results of a run: the items of the sink, the returned value, and the items of the serial
/// stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub delivered: Vec<u64>,
    pub ended: Ended,
    pub serial: Vec<Vec<u64>>,
    /// How many items the source was asked for and had.
    pub asked: usize,
}

impl Seen {
    /// The part of the results that must be the same in every way to run. Earlier serial stages may have run
    /// ahead of the item that stopped the stream, so their items are not in it.
    pub fn result(&self) -> (&[u64], &Ended) {
        (&self.delivered, &self.ended)
    }
}

#[derive(Debug, Clone, Copy)]
struct Plain {
    key: u64,
    origin: u64,
    path: u64,
}

#[derive(Debug, Clone, Copy)]
enum PlainStage {
    Parallel(Op, usize),
    /// The stage, its node, and its position among the serial stages.
    Serial(Serial, usize, usize),
}

/// Why the loop is left.
enum Halt {
    /// Step `at` needs no more items. The steps after it may give their last results.
    Break(usize),
    End(Ended),
}

struct Loop<'c> {
    case: &'c Case,
    steps: Vec<PlainStage>,
    /// For each step, what it counts or sums up, and what it gathers.
    counts: Vec<u64>,
    /// For each step, a state for each group of items.
    states: Vec<[u64; 3]>,
    gathered: Vec<Vec<Plain>>,
    delivered: Vec<u64>,
    serial: Vec<Vec<u64>>,
    whole: bool,
}

/// Whether a filter at `node` keeps an item with this key.
pub fn keeps(key: u64, node: usize) -> bool {
    !mix(key, node as u64).is_multiple_of(4)
}

/// The group of an item with this key, for stages that compare neighbours.
pub fn group(key: u64) -> u64 {
    key % 3
}

/// The number that a state makes of itself and an item.
pub fn next_state(state: u64, key: u64) -> u64 {
    mix(state, key)
}

/// Whether an item that has gone through a loop goes round again.
pub fn goes_round(key: u64) -> bool {
    key.is_multiple_of(3)
}

/// How many children an item has at `node`.
pub fn children(key: u64, node: usize) -> u64 {
    mix(key, node as u64) % 4
}

/// Runs a case as the loop that it stands for. Also returns whether the loop reached the end of its source.
pub fn plain_loop(case: &Case) -> (Seen, bool) {
    let mut steps = Vec::new();
    for (at, segment) in case.segments.iter().enumerate() {
        steps.extend(
            segment.chain.ops().iter().enumerate().map(|(k, &op)| PlainStage::Parallel(op, node(at, k))),
        );
        steps.push(PlainStage::Serial(segment.serial, node(at, 3), at));
    }
    let tail = case.segments.len();
    steps.extend(case.tail.ops().iter().enumerate().map(|(k, &op)| PlainStage::Parallel(op, node(tail, k))));
    let mut this = Loop {
        case,
        counts: vec![0; steps.len()],
        states: vec![[0; 3]; steps.len()],
        gathered: vec![Vec::new(); steps.len()],
        steps,
        delivered: Vec::new(),
        serial: vec![Vec::new(); case.segments.len()],
        whole: false,
    };
    let mut asked = 0;
    let ended = this.run(&mut asked);
    let whole = this.whole && ended == Ended::Complete;
    (Seen { delivered: this.delivered, ended, serial: this.serial, asked }, whole)
}

impl Loop<'_> {
    fn run(&mut self, asked: &mut usize) -> Ended {
        if self.steps.iter().any(|step| matches!(step, PlainStage::Serial(Serial::Take(0), ..))) {
            // No item passes, even if the source has items.
            return Ended::Complete;
        }
        for origin in 0..self.case.items {
            *asked += 1;
            let item = Plain { key: mix(origin, 0), origin, path: 0 };
            let fed = self.visit(SOURCE, item, true, false).and_then(|()| self.feed(0, item));
            match fed {
                Ok(()) => {}
                Err(Halt::Break(at)) => return self.flush(at + 1),
                Err(Halt::End(ended)) => return ended,
            }
        }
        self.whole = true;
        self.flush(0)
    }

    /// Runs the end of the stream, from step `from` on.
    fn flush(&mut self, from: usize) -> Ended {
        for at in from..self.steps.len() {
            let PlainStage::Serial(serial, node, place) = self.steps[at] else { continue };
            if let Serial::Sliding(size, step) | Serial::Aggregated(size, step) = serial {
                // All gathered items have been in a window already, unless there is one behind the last window.
                let last_end = (self.begin(at, size, step) + size as u64).saturating_sub(step as u64);
                if self.counts[at] <= if self.counts[at] < size as u64 { 0 } else { last_end } {
                    self.gathered[at].clear();
                }
            }
            while !self.gathered[at].is_empty() {
                let given = match serial {
                    Serial::SortedWithin(_) => {
                        let item = self.gathered[at].remove(0);
                        self.give(at, node, place, item)
                    }
                    _ => self.give_batch(at),
                };
                match given {
                    Ok(()) => {}
                    Err(Halt::Break(at)) => {
                        self.whole = false;
                        return self.flush(at + 1);
                    }
                    Err(Halt::End(ended)) => return ended,
                }
            }
        }
        Ended::Complete
    }

    /// The planted fault of an item at a node. In a call that cannot return an error, an error becomes a
    /// panic.
    fn visit(&self, node: usize, item: Plain, fallible: bool, child: bool) -> Result<(), Halt> {
        let planted = Planted { node, origin: item.origin, path: item.path, bomb: Bomb::default() };
        match self.case.fault(node, item.origin, item.path, child) {
            None => Ok(()),
            Some(Fault { kind: Kind::Error, .. }) if fallible => Err(Halt::End(Ended::Error(planted))),
            Some(_) => Err(Halt::End(Ended::Panic(planted))),
        }
    }

    /// The number of the item with which the next window of step `at` begins.
    fn begin(&self, at: usize, size: usize, step: usize) -> u64 {
        let (seen, size, step) = (self.counts[at], size as u64, step as u64);
        seen.checked_sub(size).map_or(0, |behind| (behind / step + 1) * step)
    }

    /// The items of a parent, one after the other.
    fn feed_children(&mut self, at: usize, node: usize, item: Plain, fallible: bool) -> Result<(), Halt> {
        for number in 0..children(item.key, node) {
            let child = Plain { key: mix(item.key, number), path: item.path << 2 | number, ..item };
            self.visit(node, child, fallible, true)?;
            self.feed(at + 1, child)?;
        }
        Ok(())
    }

    /// The serial stage `node` gives an item that it has held back.
    fn give(&mut self, at: usize, node: usize, place: usize, item: Plain) -> Result<(), Halt> {
        self.serial[place].push(item.key);
        self.visit(node, item, false, false)?;
        self.feed(at + 1, Plain { key: mix(item.key, node as u64), ..item })
    }

    fn give_batch(&mut self, at: usize) -> Result<(), Halt> {
        let PlainStage::Serial(_, node, place) = self.steps[at] else { unreachable!("batches are serial") };
        let batch = std::mem::take(&mut self.gathered[at]);
        self.give_merged(at, node, place, &batch)
    }

    fn give_merged(&mut self, at: usize, node: usize, place: usize, batch: &[Plain]) -> Result<(), Halt> {
        let last = batch.last().expect("a batch is not empty");
        let key = batch.iter().fold(batch.len() as u64, |key, item| mix(key, item.key));
        let merged = Plain { key, ..*last };
        self.serial[place].push(merged.key);
        self.visit(node, merged, false, false)?;
        self.feed(at + 1, Plain { key: mix(key, node as u64), ..merged })
    }

    fn feed(&mut self, at: usize, item: Plain) -> Result<(), Halt> {
        let Some(&step) = self.steps.get(at) else { return self.sink(item) };
        match step {
            PlainStage::Parallel(op, node) => {
                self.visit(node, item, op.is_fallible(), false)?;
                let marked = Plain { key: mix(item.key, node as u64), ..item };
                match op {
                    Op::Map | Op::TryMap | Op::MapWith | Op::TryMapWith | Op::Farm | Op::TryFarm => {
                        self.feed(at + 1, marked)
                    }
                    Op::Inspect => self.feed(at + 1, item),
                    Op::TryFilterMap if keeps(item.key, node) => self.feed(at + 1, marked),
                    Op::TryFilterMap => Ok(()),
                    Op::TryFlatMap => {
                        // All children are made before the first is taken.
                        let mut failure = Ok(());
                        let mut made = Vec::new();
                        for number in 0..children(item.key, node) {
                            let path = item.path << 2 | number;
                            let child = Plain { key: mix(item.key, number), path, ..item };
                            failure = self.visit(node, child, true, true);
                            if failure.is_err() {
                                break;
                            }
                            made.push(child);
                        }
                        if matches!(failure, Err(Halt::End(Ended::Panic(_)))) {
                            return failure;
                        }
                        made.into_iter().try_for_each(|child| self.feed(at + 1, child))?;
                        failure
                    }
                    Op::Filter if keeps(item.key, node) => self.feed(at + 1, item),
                    Op::FilterMap | Op::FilterMapWith if keeps(item.key, node) => self.feed(at + 1, marked),
                    Op::Filter | Op::FilterMap | Op::FilterMapWith => Ok(()),
                    Op::FlatMap => self.feed_children(at, node, item, false),
                }
            }
            PlainStage::Serial(serial, node, place) => self.serial(at, serial, node, place, item),
        }
    }

    fn serial(
        &mut self,
        at: usize,
        serial: Serial,
        node: usize,
        place: usize,
        item: Plain,
    ) -> Result<(), Halt> {
        match serial {
            Serial::Take(most) => {
                self.counts[at] += 1;
                self.feed(at + 1, item)?;
                return if self.counts[at] == most as u64 { Err(Halt::Break(at)) } else { Ok(()) };
            }
            Serial::Batch(size) | Serial::Windows(size) | Serial::WindowsByKey(size) => {
                self.gathered[at].push(item);
                return if self.gathered[at].len() == size { self.give_batch(at) } else { Ok(()) };
            }
            Serial::Sliding(size, step) | Serial::Aggregated(size, step) => {
                let begin = self.begin(at, size, step);
                self.counts[at] += 1;
                if self.counts[at] > begin {
                    self.gathered[at].push(item);
                }
                if self.counts[at] < begin + size as u64 {
                    return Ok(());
                }
                let window = self.gathered[at].clone();
                self.gathered[at].drain(..step.min(size));
                return self.give_merged(at, node, place, &window);
            }
            Serial::Times(length) | Serial::Sessions(length) => {
                let is_new = self.gathered[at].last().is_some_and(|last| match serial {
                    Serial::Times(_) => last.origin / length != item.origin / length,
                    _ => item.origin - last.origin >= length,
                });
                if is_new {
                    self.give_batch(at)?;
                }
                self.gathered[at].push(item);
                return Ok(());
            }
            Serial::Zip(most) if self.counts[at] == most => return Err(Halt::Break(at)),
            Serial::ChunkBy => {
                let is_new = self.gathered[at].last().is_some_and(|last| group(last.key) != group(item.key));
                if is_new {
                    self.give_batch(at)?;
                }
                self.gathered[at].push(item);
                return Ok(());
            }
            Serial::SortedWithin(window) => {
                self.gathered[at].push(item);
                if self.gathered[at].len() <= window {
                    return Ok(());
                }
                let item = self.gathered[at].remove(0);
                return self.give(at, node, place, item);
            }
            Serial::Skip(count) if self.counts[at] < count => {
                self.counts[at] += 1;
                return Ok(());
            }
            Serial::SkipWhile(limit) if self.counts[at] == 0 => {
                if item.origin < limit {
                    return Ok(());
                }
                self.counts[at] = 1;
            }
            Serial::StepBy(step) => {
                self.counts[at] += 1;
                if !(self.counts[at] - 1).is_multiple_of(step) {
                    return Ok(());
                }
            }
            Serial::Dedup => {
                // 0 stands for no key.
                let key = 1 + group(item.key);
                if std::mem::replace(&mut self.counts[at], key) == key {
                    return Ok(());
                }
            }
            _ => {}
        }
        // Stages that work on several items at once see them in no order.
        if !serial.is_parallel() {
            self.serial[place].push(item.key);
        }
        if serial != Serial::Spread {
            self.visit(node, item, self.is_fallible(at, serial, node, item), false)?;
        }
        let marked = Plain { key: mix(item.key, node as u64), ..item };
        match serial {
            Serial::Each | Serial::Try => self.feed(at + 1, marked),
            Serial::Skip(_) | Serial::SkipWhile(_) | Serial::StepBy(_) | Serial::Dedup => {
                self.feed(at + 1, marked)
            }
            Serial::Needing
            | Serial::Through
            | Serial::Throttled
            | Serial::Spread
            | Serial::ReadyChunks(_) => self.feed(at + 1, marked),
            Serial::Chained(most) | Serial::Interleaved(most) => {
                let others =
                    if let Serial::Chained(_) = serial { 0 } else { self.counts[at].min(most as u64) };
                self.counts[at] += 1;
                self.feed(at + 1, Plain { key: mix(item.key, others), ..item })
            }
            Serial::FlatEach | Serial::FlatSpread => self.feed_children(at, node, item, false),
            Serial::TryFlatEach | Serial::TryFlatSpread => self.feed_children(at, node, item, true),
            Serial::Sharded(_) | Serial::TrySharded(_) | Serial::ByKey => {
                let state = &mut self.states[at][group(item.key) as usize];
                *state = next_state(*state, item.key);
                let key = *state;
                self.feed(at + 1, Plain { key, ..item })
            }
            Serial::Zipped => self.feed(at + 1, Plain { key: mix(marked.key, item.key), ..item }),
            Serial::Merged => (0..2).try_for_each(|number| {
                let path = marked.path << 2 | number;
                self.feed(at + 1, Plain { key: mix(marked.key, number), path, ..marked })
            }),
            Serial::Split(way) => {
                let branch = self.branch(at, way, node, item);
                self.counts[at] += 1;
                self.feed(at + 1, Plain { key: mix(marked.key, branch), ..item })
            }
            Serial::Feedback => {
                let mut item = marked;
                while goes_round(item.key) {
                    self.visit(node, item, true, false)?;
                    item.key = mix(item.key, node as u64);
                }
                self.feed(at + 1, item)
            }
            Serial::TryOption if keeps(item.key, node) => self.feed(at + 1, marked),
            Serial::TryOption => Ok(()),
            Serial::MapWhile(limit) if item.origin < limit => self.feed(at + 1, item),
            Serial::Option if keeps(item.key, node) => self.feed(at + 1, marked),
            Serial::Option => Ok(()),
            Serial::TakeWhile(limit) if item.origin < limit => self.feed(at + 1, item),
            Serial::Scan(limit) if item.origin < limit => {
                self.counts[at] = mix(self.counts[at], item.key);
                self.feed(at + 1, Plain { key: self.counts[at], ..item })
            }
            Serial::TakeWhile(_) | Serial::Scan(_) | Serial::MapWhile(_) => Err(Halt::Break(at)),
            Serial::Enumerate | Serial::Zip(_) => {
                self.counts[at] += 1;
                self.feed(at + 1, Plain { key: mix(item.key, self.counts[at] - 1), ..item })
            }
            Serial::Take(_)
            | Serial::Batch(_)
            | Serial::ChunkBy
            | Serial::SortedWithin(_)
            | Serial::Windows(_)
            | Serial::WindowsByKey(_)
            | Serial::Sliding(..)
            | Serial::Aggregated(..)
            | Serial::Times(_)
            | Serial::Sessions(_) => unreachable!("done above"),
        }
    }

    /// The branch that an item takes. Keys choose by their hashes, so those branches leave the same mark.
    fn branch(&self, at: usize, way: Way, node: usize, item: Plain) -> u64 {
        match way {
            Way::If => u64::from(!keeps(item.key, node)),
            Way::InTurn => self.counts[at] % 2,
            Way::ByKey => 1,
            Way::Chosen => group(item.key),
        }
    }

    /// Whether the stage can return an error for the item.
    fn is_fallible(&self, at: usize, serial: Serial, node: usize, item: Plain) -> bool {
        match serial {
            Serial::Try
            | Serial::TryOption
            | Serial::TryFlatEach
            | Serial::TryFlatSpread
            | Serial::TrySharded(_)
            | Serial::Through
            | Serial::Needing
            | Serial::Merged
            | Serial::Feedback => true,
            Serial::Split(way) => self.branch(at, way, node, item) == 1,
            _ => false,
        }
    }

    fn sink(&mut self, item: Plain) -> Result<(), Halt> {
        self.delivered.push(item.key);
        self.visit(SINK, item, self.case.end.is_fallible(), false)?;
        match self.case.end {
            End::Find(limit) | End::Any(limit) if item.origin >= limit => {
                Err(Halt::End(Ended::Found(item.key)))
            }
            _ => Ok(()),
        }
    }
}
