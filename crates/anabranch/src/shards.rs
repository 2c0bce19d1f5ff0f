//! Schedules for stages whose replicas keep a state: which replica gets which item.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use anabranch_plan::Schedule;

/// How items are dealt to the replicas of a [`map_sharded`](crate::Stream::map_sharded), which are called
/// *shards*.
///
/// Each shard has its own state. The number of shards therefore changes the result of the stage, whereas the
/// number of workers does not. With several shards for each worker, uneven loads even out.
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
        assert!(count > 0, "a stage needs at least 1 shard, not 0");
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
    /// Items with equal keys go to the same shard, which is chosen by the hash of the key. It is the same
    /// shard in every run of one build of the program.
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
    /// An item goes to the shard that `choose` returns, modulo `count`. `choose` is called for the items in
    /// order.
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

/// Chooses the shard of each item; see [`Shards`].
pub trait Route<T>: Send {
    /// How a plan calls the schedule.
    #[doc(hidden)]
    const SCHEDULE: Schedule;

    /// The shard of the next item, which is taken modulo the number of shards. It is called for the items in
    /// order.
    fn shard(&mut self, item: &T) -> usize;
}

/// Deals items in turn; see [`Shards::dealt`].
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

/// Deals items by the hash of a key; see [`Shards::by_key`].
pub struct ByKey<F>(F);

impl<F> fmt::Debug for ByKey<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ByKey")
    }
}

impl<T, K: Hash, F: FnMut(&T) -> K + Send> Route<T> for ByKey<F> {
    const SCHEDULE: Schedule = Schedule::ByKey;

    fn shard(&mut self, item: &T) -> usize {
        // This hasher has no random keys, so a key gives the same shard in every run.
        BuildHasherDefault::<DefaultHasher>::default().hash_one((self.0)(item)) as usize
    }
}

/// Deals items as a function says; see [`Shards::chosen`].
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
