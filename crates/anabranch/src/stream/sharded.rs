//! Parallel stages whose replicas keep a state. Items are dealt to shards.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use anabranch_plan::{Node, State};

use super::Stream;
use crate::engine::{Base, Tail};
use crate::mode::{Admit, Mode};
use crate::serial::Each;
use crate::shape::Single;
use crate::shards::{Route, Shards};
use crate::unit::{Apply, Dealt, Identity, Map, TryMap};

/// An item and its shard.
type Sharded<T> = (usize, T);

impl<'env, U, M> Stream<'env, U, M>
where
    U: Apply<M::Error> + Send + 'env,
    M: Mode,
    M::Error: Send + 'env,
{
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
    #[allow(clippy::type_complexity)]
    pub fn map_sharded<R, L, V, N, F>(
        self,
        shards: Shards<R>,
        make: N,
        f: F,
    ) -> Stream<'env, Map<Dealt<U::Out>, impl Fn(Sharded<U::Out>) -> V + Send + Sync + 'env, V>, M>
    where
        U::Out: 'env,
        R: Route<U::Out> + 'env,
        L: Send + 'env,
        V: Send + 'env,
        N: Fn() -> L + Send + Sync + 'env,
        F: Fn(&mut L, U::Out) -> V + Send + Sync + 'env,
    {
        let count = shards.count;
        let call = with_states(count, make, f);
        let node = Node::parallel("map_sharded").state(State::PerReplica).schedule(R::SCHEDULE);
        self.deal(shards).extend(node.replicate(count), |before| Map { before, call, types: PhantomData })
    }

    /// Like [`map_sharded`](Self::map_sharded), with a function that may fail. The first failure in the order
    /// of the items ends the stream.
    #[allow(clippy::type_complexity)]
    pub fn try_map_sharded<R, L, V, E, N, F>(
        self,
        shards: Shards<R>,
        make: N,
        f: F,
    ) -> Stream<
        'env,
        TryMap<Dealt<U::Out>, impl Fn(Sharded<U::Out>) -> Result<V, E> + Send + Sync + 'env, V, E>,
        M::Then,
    >
    where
        U::Out: 'env,
        R: Route<U::Out> + 'env,
        L: Send + 'env,
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        N: Fn() -> L + Send + Sync + 'env,
        F: Fn(&mut L, U::Out) -> Result<V, E> + Send + Sync + 'env,
    {
        let count = shards.count;
        let call = with_states(count, make, f);
        let node =
            Node::parallel("try_map_sharded").state(State::PerReplica).schedule(R::SCHEDULE).fallible();
        self.deal(shards).compose(node.replicate(count), |before| TryMap { before, call, types: PhantomData })
    }

    /// Adds a serial stage that chooses the shard of each item, and makes the unit behind it run by shards.
    fn deal<R>(self, shards: Shards<R>) -> Stream<'env, Dealt<U::Out>, M>
    where
        U::Out: 'env,
        R: Route<U::Out> + 'env,
    {
        let Shards { count, mut route } = shards;
        let number = move |item| (route.shard(&item) % count, item);
        // All items of an index have the same shard, so an index has one item.
        self.stage(Node::serial("deal"), Each(number)).boxed().dealt()
    }
}

impl<'env, T: Send, M: Mode> Stream<'env, Identity<Sharded<T>, Single>, M> {
    /// Makes the unit behind the stream run by the shards that the items name.
    pub(super) fn dealt(self) -> Stream<'env, Dealt<T>, M> {
        let Stream { tail, draft, mode } = self;
        let base = Box::new(Base { shard: Some(|&(shard, _)| shard), ..*tail.base });
        let tail = Tail { unit: Dealt::new(), base };
        Stream { tail, draft, mode }
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
