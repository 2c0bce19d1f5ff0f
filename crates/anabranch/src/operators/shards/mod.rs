//! Stages whose replicas keep a state: items are dealt to the replicas, which are called shards.

mod node;

use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use anabranch_plan::{Node, State};

use super::route::{ByKey, InTurn, Route};
use crate::engine::ParallelEach;
use crate::stream::options::ForAll;
use crate::stream::{Admit, Mode, Stream, TryStream};
use node::InShards;

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
    fn new(method: &str, count: usize, route: R) -> Self {
        assert!(count > 0, "`Shards::{method}(0)`: a stage has 1 shard or more");
        Self { count, route }
    }
}

impl Shards<InTurn> {
    /// Item *i* goes to shard *i* mod `count`.
    ///
    /// # Panics
    /// If `count` is 0.
    #[track_caller]
    pub fn dealt(count: usize) -> Self {
        Self::new("dealt", count, InTurn::new())
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
        Self::new("by_key", count, ByKey::new(key))
    }
}

impl<F> Shards<F> {
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
        Self::new("chosen", count, choose)
    }
}

/// An item and its shard.
type Sharded<T> = (usize, T);

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Turns each item into another, with a state that all items of one shard share. The items of one shard
    /// are processed one at a time, in order. Several shards are processed at once.
    ///
    /// Use it for work that is serial for each key only, for example sessions of users or decoders of several
    /// streams. The results have the order of the items. `make` creates the state of a shard before the first
    /// item of the shard.
    ///
    /// After a [`flat_map`](Self::flat_map), or if the source [never waits](crate::Source::in_blocks), the items become single
    /// items first, as by [`spread`](Self::spread).
    ///
    /// ```
    /// use anabranch::{Shards, Stream};
    /// use std::collections::HashMap;
    ///
    /// let visits = [("ann", 3), ("bob", 5), ("ann", 4), ("bob", 1), ("ann", 2)];
    /// let totals = Stream::from_iter(visits).map_sharded(
    ///     Shards::by_key(8, |visit: &(&'static str, u32)| visit.0),
    ///     HashMap::<&str, u32>::new,
    ///     |totals, (name, pages)| {
    ///         let total = totals.entry(name).or_default();
    ///         *total += pages;
    ///         (name, *total)
    ///     },
    /// );
    /// let expected = [("ann", 3), ("bob", 5), ("ann", 7), ("bob", 6), ("ann", 9)];
    /// assert_eq!(totals.collect::<Vec<_>>(), expected);
    /// ```
    pub fn map_sharded<R, L, V, N, F>(self, shards: Shards<R>, make: N, f: F) -> Stream<'env, V, M>
    where
        O: ForAll,
        R: Route<T> + 'env,
        L: Send + 'env,
        V: Send + 'env,
        N: Fn() -> L + Send + Sync + 'env,
        F: Fn(&mut L, T) -> V + Send + Sync + 'env,
    {
        let node = Node::parallel("map_sharded").state(State::PerReplica).schedule(R::SCHEDULE);
        let call = with_states(shards.count, make, f);
        self.deal(node, shards, move |item| Ok(Some(call(item))))
    }

    /// Like [`map_sharded`](Self::map_sharded), with a function that may fail. The first failure in the order
    /// of the items ends the stream.
    ///
    /// ```
    /// use anabranch::{Shards, Stream};
    ///
    /// let payments = Stream::from_iter([("ann", 3u32), ("bob", 5), ("ann", 4)]).try_map_sharded(
    ///     Shards::by_key(8, |payment: &(&'static str, u32)| payment.0),
    ///     || 5u32, // nobody pays more than 5
    ///     |left, (name, sum)| {
    ///         *left = left.checked_sub(sum).ok_or(name)?;
    ///         Ok(*left)
    ///     },
    /// );
    /// assert_eq!(payments.collect::<Vec<_>>(), Err("ann"));
    /// ```
    pub fn try_map_sharded<R, L, V, E, N, F>(
        self,
        shards: Shards<R>,
        make: N,
        f: F,
    ) -> TryStream<'env, V, M::Failure>
    where
        O: ForAll,
        R: Route<T> + 'env,
        L: Send + 'env,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        N: Fn() -> L + Send + Sync + 'env,
        F: Fn(&mut L, T) -> Result<V, E> + Send + Sync + 'env,
    {
        let node =
            Node::parallel("try_map_sharded").state(State::PerReplica).schedule(R::SCHEDULE).fallible();
        let call = with_states(shards.count, make, f);
        self.admit::<E>().deal(node, shards, move |item| Ok(Some(call(item)?)))
    }

    /// Deals the items to shards, and adds the stage `node` whose replicas are the shards.
    fn deal<R, V, F>(self, node: Node, shards: Shards<R>, f: F) -> Stream<'env, V, M>
    where
        R: Route<T> + 'env,
        V: Send + 'env,
        F: Fn(Sharded<T>) -> Result<Option<V>, M::Error> + Send + Sync + 'env,
    {
        let Shards { count, mut route } = shards;
        let number = move |item| Some((route.shard(&item) % count, item));
        // All items of an index have the same shard, so an index has one item.
        let dealt = self.serial_each(Node::serial("deal"), number).with_single_items();
        dealt.in_shards(node.replicate(count), f)
    }

    /// The stream with one item or none at each index.
    pub(crate) fn with_single_items(self) -> Stream<'env, T, M> {
        if self.draft.outline.gives_many { self.prepared(Stream::spread) } else { self.prepared(|same| same) }
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, Sharded<T>, M> {
    /// Adds the stage `node`, whose replicas are the shards of the items.
    pub(crate) fn in_shards<V, F>(self, node: Node, f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: Fn(Sharded<T>) -> Result<Option<V>, M::Error> + Send + Sync + 'env,
    {
        let op = ParallelEach::new(|| (), move |(): &mut (), item| f(item));
        self.parallel_as(node, op, InShards)
    }
}

/// Returns a function that calls `f` with the state of the item's shard. No thread ever waits for the lock of
/// a state, because one item of a shard runs at a time.
pub(crate) fn with_states<T, L, V>(
    count: usize,
    make: impl Fn() -> L + Send + Sync,
    f: impl Fn(&mut L, T) -> V + Send + Sync,
) -> impl Fn(Sharded<T>) -> V + Send + Sync
where
    L: Send,
{
    let states: Box<[Mutex<Option<L>>]> = std::iter::repeat_with(Mutex::default).take(count).collect();
    move |(shard, item)| {
        let mut state = states[shard].lock().unwrap_or_else(PoisonError::into_inner);
        f(state.get_or_insert_with(&make), item)
    }
}
