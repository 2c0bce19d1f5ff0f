//! Who gets which item: schedules of stages whose replicas keep a state.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use anabranch_plan::Schedule;

/// How items are dealt to the replicas of a [`map_sharded`](crate::Stream::map_sharded), the *shards*.
///
/// The number of shards is part of what the stage computes, as each has a state of its own; the number of
/// workers is not. Several shards per worker even out skewed loads.
///
/// ```
/// use anabranch::Shards;
///
/// let in_turn = Shards::dealt(4);                             // item i goes to shard i mod 4
/// let by_user = Shards::by_key(16, |line: &String| line.split(' ').next().map(str::to_owned));
/// let by_size = Shards::chosen(2, |line: &String| usize::from(line.len() > 80));
/// # let _ = (in_turn, by_user, by_size);
/// ```
pub struct Shards<R> {
    pub(crate) count: usize,
    pub(crate) route: R,
}

impl<R> fmt::Debug for Shards<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shards").field("count", &self.count).finish_non_exhaustive()
    }
}

impl<R> Shards<R> {
    #[track_caller]
    fn new(count: usize, route: R) -> Self {
        assert!(count > 0, "items are dealt to 1 shard or more, not to 0");
        Self { count, route }
    }
}

impl Shards<Dealt> {
    /// Item *i* goes to shard *i* mod `count`.
    ///
    /// # Panics
    /// If `count` is 0.
    #[track_caller]
    pub fn dealt(count: usize) -> Self {
        Self::new(count, Dealt { next: 0 })
    }
}

impl<F> Shards<ByKey<F>> {
    /// Items of which `key` gives the same go to the same shard, by the hash of the key. Which keys share a shard
    /// is the same in every run of one build.
    ///
    /// # Panics
    /// If `count` is 0.
    #[track_caller]
    pub fn by_key<T, K: Hash>(count: usize, key: F) -> Self
    where
        F: FnMut(&T) -> K,
    {
        Self::new(count, ByKey(key))
    }
}

impl<F> Shards<Chosen<F>> {
    /// An item goes to the shard that `choose` gives, modulo `count`. It is asked in the order of the items.
    ///
    /// # Panics
    /// If `count` is 0.
    #[track_caller]
    pub fn chosen<T>(count: usize, choose: F) -> Self
    where
        F: FnMut(&T) -> usize,
    {
        Self::new(count, Chosen(choose))
    }
}

/// Says to which shard an item goes: see [`Shards`].
pub trait Route<T>: Send {
    /// What a plan calls it.
    #[doc(hidden)]
    const SCHEDULE: Schedule;

    /// The shard of the next item, modulo the number of shards. Called for the items in their order.
    fn shard(&mut self, item: &T) -> usize;
}

/// In turn: see [`Shards::dealt`].
#[derive(Debug)]
pub struct Dealt {
    next: usize,
}

impl<T> Route<T> for Dealt {
    const SCHEDULE: Schedule = Schedule::Dealt;

    fn shard(&mut self, _: &T) -> usize {
        self.next = self.next.wrapping_add(1);
        self.next.wrapping_sub(1)
    }
}

/// By the hash of a key: see [`Shards::by_key`].
pub struct ByKey<F>(F);

impl<F> fmt::Debug for ByKey<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByKey")
    }
}

impl<T, K: Hash, F: FnMut(&T) -> K + Send> Route<T> for ByKey<F> {
    const SCHEDULE: Schedule = Schedule::ByKey;

    fn shard(&mut self, item: &T) -> usize {
        // A hasher without random keys: the same shard in every run.
        BuildHasherDefault::<DefaultHasher>::default().hash_one((self.0)(item)) as usize
    }
}

/// As a function says: see [`Shards::chosen`].
pub struct Chosen<F>(F);

impl<F> fmt::Debug for Chosen<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chosen")
    }
}

impl<T, F: FnMut(&T) -> usize + Send> Route<T> for Chosen<F> {
    const SCHEDULE: Schedule = Schedule::Custom;

    fn shard(&mut self, item: &T) -> usize {
        (self.0)(item)
    }
}
