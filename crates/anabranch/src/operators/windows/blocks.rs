//! The way of items to the shards of windows: items are gathered in blocks, and each block is divided by shards.

use std::hash::{BuildHasher, Hash};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::keys::Hashed;
use crate::engine::nodes::pull::Pulled;
use crate::engine::{Kept, KeptPanic, Spread};

/// A block of neighbouring items.
pub(crate) struct Block<T> {
    items: Vec<T>,
    /// Whether the block is the last one, which has no items.
    is_end: bool,
}

/// A spreading stage that gathers the items that are ready in blocks. It never waits for items: where blocks begin and end
/// depends on the moment, so the stages behind must give the same results for all blocks.
pub(crate) struct Gather<T> {
    items: Vec<T>,
    /// The largest number of items in a block.
    most: usize,
    /// Whether the block is given, though it could have more items.
    gives: bool,
    /// Whether the last block is given next.
    ends: bool,
}

impl<T> Gather<T> {
    pub(crate) fn new() -> Self {
        Self { items: Vec::new(), most: 1, gives: false, ends: false }
    }
}

impl<T: Send, E> Spread<T, E> for Gather<T> {
    type Out = Block<T>;

    fn open(&mut self, item: T) {
        self.items.push(item);
    }

    fn open_last(&mut self, waiting: &mut Vec<T>) -> bool {
        if self.items.capacity() == 0 {
            // If items arrive one by one, blocks may stay small.
            self.items.reserve(waiting.len().min(self.most));
        }
        let room = self.most.saturating_sub(self.items.len()).min(waiting.len());
        self.items.extend(waiting.drain(waiting.len() - room..).rev());
        self.items.len() >= self.most
    }

    #[inline]
    fn next(&mut self) -> Pulled<Block<T>, E> {
        if !self.items.is_empty() && (self.gives || self.items.len() >= self.most) {
            self.gives = false;
            return Pulled::Item(Block { items: std::mem::take(&mut self.items), is_end: false });
        }
        if std::mem::take(&mut self.ends) {
            return Pulled::Item(Block { items: Vec::new(), is_end: true });
        }
        Pulled::End
    }

    fn limit(&mut self, items: usize) {
        self.most = items;
    }

    fn holds(&self) -> bool {
        !self.items.is_empty()
    }

    fn idle(&mut self) -> bool {
        self.gives = !self.items.is_empty();
        self.gives
    }

    fn end(&mut self) -> bool {
        self.ends = true;
        true
    }
}

/// An item on its way to its shard.
pub(crate) struct Entry<K, T> {
    /// The number of the item in its block.
    pub(super) number: u64,
    pub(super) time: i64,
    /// The greatest time of the items before it in its block.
    pub(super) high: i64,
    pub(super) key: Hashed<K>,
    pub(super) item: T,
}

/// The items of a block, by shards.
pub(crate) struct Divided<K, T> {
    pub(super) shards: Vec<Vec<Entry<K, T>>>,
    pub(super) len: u64,
    /// The greatest time of the items.
    pub(super) high: i64,
    /// The payload of a panic of the user's code, behind these items.
    pub(super) panic: Option<KeptPanic>,
    pub(super) is_end: bool,
}

/// Divides a block by the shards of its items' keys.
pub(crate) fn partition<K: Hash, T>(
    block: Block<T>,
    shards: usize,
    hasher: &impl BuildHasher,
    key: &impl Fn(&T) -> K,
    time: &impl Fn(&T) -> i64,
) -> Divided<K, T> {
    let Block { items, is_end } = block;
    let mut divided = Divided { shards: Vec::new(), len: 0, high: i64::MIN, panic: None, is_end };
    // Keys are about evenly spread, so few of these vectors grow.
    let share = items.len() / shards;
    let usual = if share == 0 { 0 } else { share + share / 4 + 2 };
    divided.shards.resize_with(shards, || Vec::with_capacity(usual));
    // The items before one whose key panics are handled: the loop would have handled them too.
    let divides = AssertUnwindSafe(|| {
        for item in items {
            let (key, time) = (key(&item), time(&item));
            let hash = hasher.hash_one(&key);
            // The map of the shard uses the lowest and the highest bits.
            let shard = (((hash >> 16) & 0xFFFF_FFFF) as usize * shards) >> 32;
            let entry =
                Entry { number: divided.len, time, high: divided.high, key: Hashed { hash, key }, item };
            divided.shards[shard].push(entry);
            divided.len += 1;
            divided.high = divided.high.max(time);
        }
    });
    divided.panic = catch_unwind(divides).err().map(Kept::new);
    divided
}
