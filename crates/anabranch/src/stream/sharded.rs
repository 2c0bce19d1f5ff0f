//! Parallel stages whose replicas keep a state. Items are dealt to shards.

use std::sync::{Mutex, PoisonError};

use anabranch_plan::{Node, State};

use super::Stream;
use crate::mode::{Admit, ErrorAfter, Mode};
use crate::parallel::ParallelEach;
use crate::shards::{Route, Shards};

/// An item and its shard.
type Sharded<T> = (usize, T);

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Turns each item into another, with a state that all items of one shard share. The items of one shard
    /// are processed one at a time, in order. Several shards are processed at once.
    ///
    /// Use it for work that is serial for each key only, for example sessions of users or decoders of several
    /// streams. The results have the order of the items. `make` creates the state of a shard before the first
    /// item of the shard.
    ///
    /// After a [`flat_map`](Self::flat_map), or if the source [never waits](Self::never_waits), the items become single
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
    pub fn try_map_sharded<R, L, V, E, N, F>(
        self,
        shards: Shards<R>,
        make: N,
        f: F,
    ) -> Stream<'env, V, M::Then>
    where
        R: Route<T> + 'env,
        L: Send + 'env,
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
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
    pub(super) fn with_single_items(self) -> Self {
        if self.draft.outline.gives_many { self.spread() } else { self }
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, Sharded<T>, M> {
    /// Adds the stage `node`, whose replicas are the shards of the items.
    pub(super) fn in_shards<V, F>(self, node: Node, f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: Fn(Sharded<T>) -> Result<Option<V>, M::Error> + Send + Sync + 'env,
    {
        let op = ParallelEach::new(|| (), move |(): &mut (), item| f(item));
        self.parallel_of_shards(node, op, Some(|&(shard, _)| shard))
    }
}

/// Returns a function that calls `f` with the state of the item's shard. No thread ever waits for the lock of
/// a state, because one item of a shard runs at a time.
pub(super) fn with_states<T, L, V>(
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
