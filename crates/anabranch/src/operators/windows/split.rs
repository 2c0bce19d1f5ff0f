//! The way of the parts of a block: they go to their shards, and each shard adds them to its windows.

use std::cell::Cell;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::aggregate::Aggregate;
use super::blocks::{Divided, Entry};
use super::layout::Layout;
use super::machine::Machine;
use super::merge::Part;
use super::results::{Failure, ItemPlace, Results};
use crate::engine::nodes::pull::Pulled;
use crate::engine::{Kept, Spread};

/// The part of a block that one shard gets.
pub(crate) struct Chunk<K, T> {
    entries: Vec<Entry<K, T>>,
    /// The number of the block's first item among all items of the stream.
    order: u64,
    /// The greatest time before the block.
    high: i64,
    /// The watermark behind the block, if windows may close there.
    watermark: Option<i64>,
    /// Whether the stream ends here.
    is_end: bool,
    /// How many chunks the block has.
    of: usize,
    failure: Option<Failure>,
}

/// A spreading stage that numbers the items of blocks, and gives the chunks of each block one by one.
pub(crate) struct Split<K, T> {
    layout: Layout,
    order: u64,
    high: i64,
    /// The place up to which windows were closed.
    border: i64,
    chunks: std::vec::IntoIter<(usize, Chunk<K, T>)>,
}

impl<K, T> Split<K, T> {
    pub(crate) fn new(layout: Layout) -> Self {
        let border = layout.border(layout.watermark(i64::MIN));
        Self { layout, order: 0, high: i64::MIN, border, chunks: Vec::new().into_iter() }
    }
}

impl<K: Send, T: Send, E> Spread<Divided<K, T>, E> for Split<K, T> {
    type Out = (usize, Chunk<K, T>);

    fn open(&mut self, divided: Divided<K, T>) {
        let Divided { shards, len, high: block_high, panic, is_end } = divided;
        let (order, high) = (self.order, self.high);
        self.order += len;
        self.high = high.max(block_high);
        let watermark = self.layout.watermark(self.high);
        let border = self.layout.border(watermark);
        let closes = std::mem::replace(&mut self.border, border) != border;
        let to_all = closes || is_end;
        let watermark = closes.then_some(watermark);
        let mut chunks = Vec::with_capacity(shards.len());
        for (shard, entries) in shards.into_iter().enumerate() {
            // A panic needs a chunk.
            if to_all || !entries.is_empty() || (panic.is_some() && shard == 0) {
                let chunk = Chunk { entries, order, high, watermark, is_end, of: 0, failure: None };
                chunks.push((shard, chunk));
            }
        }
        let of = chunks.len();
        chunks.iter_mut().for_each(|(_, chunk)| chunk.of = of);
        if let (Some(payload), Some((_, last))) = (panic, chunks.last_mut()) {
            let rank = self.layout.rank_from(self.order, self.layout.watermark(self.high));
            last.failure = Some(Failure { rank, order: self.order, payload });
        }
        self.chunks = chunks.into_iter();
    }

    #[inline]
    fn next(&mut self) -> Pulled<Self::Out, E> {
        self.chunks.next().map_or(Pulled::End, Pulled::Item)
    }
}

/// The windows of one shard.
pub(crate) struct Shard<K, T, A: Aggregate<T>> {
    layout: Layout,
    machine: Machine<K, T, A>,
    /// Whether the user's code has panicked here. The windows are half changed then, and what comes later counts no more.
    is_broken: bool,
}

impl<K: Eq + Hash + Clone, T, A: Aggregate<T>> Shard<K, T, A> {
    pub(crate) fn new(layout: Layout) -> Self {
        Self { layout, machine: Machine::new(layout), is_broken: false }
    }

    /// Adds the items of a chunk to their windows, and closes windows.
    pub(crate) fn apply(&mut self, chunk: Chunk<K, T>, aggregate: &A) -> Part<K, T, A::Value> {
        let Chunk { entries, order, high, watermark, is_end, of, mut failure } = chunk;
        let mut results = Results::default();
        if !self.is_broken {
            let layout = self.layout;
            let adding = Cell::new(None);
            let mut closing = i64::MIN;
            self.machine.warm(entries.iter().map(|entry| entry.key.hash));
            let adds = AssertUnwindSafe(|| {
                for Entry { number, time, high: before, key, item } in entries {
                    let watermark = layout.watermark(high.max(before));
                    let place = ItemPlace { order: order + number, time, watermark };
                    adding.set(Some(place));
                    self.machine.add(place, key, item, aggregate, &mut results);
                }
                adding.set(None);
                if let Some(watermark) = watermark {
                    self.machine.advance(watermark, aggregate, &mut closing, &mut results);
                }
                if is_end {
                    closing = i64::MIN;
                    self.machine.end(aggregate, &mut closing, &mut results);
                }
            });
            if let Err(payload) = catch_unwind(adds).map_err(Kept::new) {
                self.is_broken = true;
                let found = match adding.get() {
                    Some(ItemPlace { order, watermark, .. }) => {
                        // The windows that had closed before the item come out. The item's own have not closed.
                        closing = i64::MIN;
                        let closes = AssertUnwindSafe(|| {
                            self.machine.advance(watermark, aggregate, &mut closing, &mut results);
                        });
                        let other = catch_unwind(closes).err().map(Kept::new);
                        let other =
                            other.map(|payload| Failure { rank: (closing, 0), order: u64::MAX, payload });
                        let own = Failure { rank: layout.rank_from(order, watermark), order, payload };
                        Failure::earlier(other, Some(own))
                    }
                    None => Some(Failure { rank: (closing, 0), order: u64::MAX, payload }),
                };
                failure = Failure::earlier(failure, found);
            }
        }
        results.closed.sort_unstable_by_key(|closed| closed.rank);
        Part { of, results, failure }
    }
}
