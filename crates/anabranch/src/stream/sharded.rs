//! Parallel stages whose replicas keep a state: items are dealt to shards.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use anabranch_plan::{Node, State};

use super::Stream;
use crate::mode::{Admit, Mode};
use crate::serial::Each;
use crate::shape::Single;
use crate::shards::{Route, Shards};
use crate::unit::{Apply, Identity, Map, TryMap, Unit};

/// An item and its shard.
type Sharded<T> = (usize, T);

impl<'env, U, M> Stream<'env, U, M>
where
    U: Apply<M::Error> + Unit<To = Single> + Send + 'env,
    M: Mode,
    M::Error: Send + 'env,
{
    /// Turns each item into another, with a state that all items of one shard share: one after the other and in
    /// order within a shard, several shards at once.
    ///
    /// For what is serial by a key only: sessions of users, decoders of streams. What comes out has the order
    /// of the items that came in. The state of a shard is made before its first item.
    ///
    /// Behind [`flat_map`](Self::flat_map), put [`spread`](Self::spread) first: an index has one shard.
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
    ) -> Stream<
        'env,
        Map<Identity<Sharded<U::Out>, Single>, impl Fn(Sharded<U::Out>) -> V + Send + Sync + 'env, V>,
        M,
    >
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

    /// As [`map_sharded`](Self::map_sharded), of a function that may fail: the first failure in the order of the
    /// items ends the stream.
    #[allow(clippy::type_complexity)]
    pub fn try_map_sharded<R, L, V, E, N, F>(
        self,
        shards: Shards<R>,
        make: N,
        f: F,
    ) -> Stream<
        'env,
        TryMap<
            Identity<Sharded<U::Out>, Single>,
            impl Fn(Sharded<U::Out>) -> Result<V, E> + Send + Sync + 'env,
            V,
            E,
        >,
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

    /// Gives each item its shard, one after the other, and has the unit behind it run by shards.
    fn deal<R>(self, shards: Shards<R>) -> Stream<'env, Identity<Sharded<U::Out>, Single>, M>
    where
        U::Out: 'env,
        R: Route<U::Out> + 'env,
    {
        let Shards { count, mut route } = shards;
        let number = move |item| (route.shard(&item) % count, item);
        let mut stream = self.stage(Node::serial("deal"), Each(number));
        stream.tail.shard = Some(|&(shard, _)| shard);
        stream
    }
}

/// `f` with the state of the item's shard. The lock is never waited for, as one item of a shard runs at a time.
fn with_states<T, L, V>(
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
