//! The destinations of items that are dealt: the branches of a fork, or the shards of a stage.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use anabranch_plan::Schedule;

/// Chooses where each item goes: to which branch of a [`split`](crate::Stream::split), or to which of the
/// [`Shards`](crate::Shards) of a stage.
///
/// A closure `|item: &T| -> usize` is a route, and so are [`ByKey`] and [`InTurn`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where an item of the type `{T}` goes",
    label = "not a route of these items",
    note = "a route is a closure `|item: &{T}| -> usize`, a `ByKey` or an `InTurn`"
)]
pub trait Route<T>: Send {
    /// How a plan calls the schedule.
    #[doc(hidden)]
    const SCHEDULE: Schedule = Schedule::Custom;

    /// The number of the branch or shard of the next item. It is taken modulo the number of branches or shards. It is called for
    /// the items in order.
    fn shard(&mut self, item: &T) -> usize;
}

/// Deals items in turn: item *i* goes to branch or shard *i* modulo their number.
///
/// ```
/// use anabranch::{InTurn, Stream};
///
/// let mut sum = 0;
/// let items = Stream::from_iter([10, 20, 30, 40])
///     .split(InTurn::new())
///     .branch(|items| items.map(|n| n + 1))
///     .branch(|items| items.serial_map(|n| { sum += n; sum }))
///     .join();
/// assert_eq!(items.collect::<Vec<_>>(), [11, 20, 31, 60]);
/// ```
#[derive(Debug, Default)]
pub struct InTurn {
    next: usize,
}

impl InTurn {
    /// A route that begins with the first branch or shard.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<T> Route<T> for InTurn {
    const SCHEDULE: Schedule = Schedule::Dealt;

    fn shard(&mut self, _: &T) -> usize {
        self.next = self.next.wrapping_add(1);
        self.next.wrapping_sub(1)
    }
}

/// Deals items with equal keys to the same branch or shard, which is chosen by the hash of the key. It is the same one in every
/// run of one build of the program.
///
/// ```
/// use anabranch::{ByKey, Stream};
///
/// let (mut first, mut second) = (0, 0);
/// let counts = Stream::from_iter(["ann", "bob", "ann", "ann"])
///     .split(ByKey::new(|name: &&str| name.len()))
///     .branch(|names| names.serial_map(|name| { first += 1; name }))
///     .branch(|names| names.serial_map(|name| { second += 1; name }))
///     .join();
/// assert_eq!(counts.collect::<Vec<_>>(), ["ann", "bob", "ann", "ann"]);
/// assert!([(4, 0), (0, 4)].contains(&(first, second)));
/// ```
pub struct ByKey<F>(F);

impl<F> ByKey<F> {
    /// A route by the key that `key` returns for an item.
    pub fn new<T, K: Hash>(key: F) -> Self
    where
        F: FnMut(&T) -> K,
    {
        Self(key)
    }
}

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

/// A function is a route: it returns the number of the branch or shard.
impl<T, F: FnMut(&T) -> usize + Send> Route<T> for F {
    fn shard(&mut self, item: &T) -> usize {
        self(item)
    }
}
