//! Parallel stages.

use std::marker::PhantomData;
use std::sync::Arc;

use anabranch_plan::{ItemType, Node, State};

use super::Stream;
use super::draft::Draft;
use crate::engine::{Base, Tail};
use crate::mode::{Admit, Mode};
use crate::unit::{
    CountBytes, Filter, FilterMap, FilterMapWith, FlatMap, Inspect, Map, MapWith, TryFilterMap, TryFlatMap,
    TryMap, TryMapWith, Unit,
};

/// Adds `node` to the open unit of a stream. The function is compiled once for all units of the same types.
fn extended<'env, A: Send, E>(
    mut base: Box<Base<'env, A, E>>,
    mut draft: Box<Draft<'env>>,
    node: Node,
    item: fn() -> ItemType,
) -> (Box<Base<'env, A, E>>, Box<Draft<'env>>) {
    base.ids = draft.outline.extend(node, item(), base.from);
    (base, draft)
}

impl<'env, U: Unit, M: Mode> Stream<'env, U, M> {
    /// Adds `node` to the open unit. `wrap` turns the code of the unit into the code with the new stage.
    pub(super) fn compose<V, E>(self, node: Node, wrap: impl FnOnce(U) -> V) -> Stream<'env, V, M::Then>
    where
        V: Unit<In = U::In, From = U::From>,
        M: Admit<E>,
    {
        self.admit::<E>().extend(node, wrap)
    }

    /// Like [`compose`](Self::compose), but keeps the mode.
    pub(super) fn extend<V>(self, node: Node, wrap: impl FnOnce(U) -> V) -> Stream<'env, V, M>
    where
        V: Unit<In = U::In, From = U::From>,
    {
        let Self { tail: Tail { unit, base }, draft, .. } = self;
        let (base, draft) = extended(base, draft, node, ItemType::of::<U::Out>);
        Stream { tail: Tail { unit: wrap(unit), base }, draft, mode: PhantomData }
    }

    /// Turns each item into another. `f` runs for several items at once.
    ///
    /// A function that is `async` gives futures, which nothing polls: the stream would be one of futures. Call what blocks
    /// instead, with [`replicate`](Self::replicate) for as many calls at once as should be, or run the futures in a runtime,
    /// and let `from_async` take their results.
    pub fn map<V, F>(self, f: F) -> Stream<'env, Map<U, F, V>, M>
    where
        V: Send,
        F: Fn(U::Out) -> V + Sync,
    {
        self.extend(Node::parallel("map"), |before| Map { before, call: f, types: PhantomData })
    }

    /// Keeps the items for which `f` returns `true`.
    pub fn filter<F>(self, f: F) -> Stream<'env, Filter<U, F>, M>
    where
        F: Fn(&U::Out) -> bool + Sync,
    {
        self.extend(Node::parallel("filter"), |before| Filter { before, call: f, types: PhantomData })
    }

    /// Turns each item into another, or drops it if `f` returns `None`.
    pub fn filter_map<V, F>(self, f: F) -> Stream<'env, FilterMap<U, F, V>, M>
    where
        V: Send,
        F: Fn(U::Out) -> Option<V> + Sync,
    {
        self.extend(Node::parallel("filter_map"), |before| FilterMap { before, call: f, types: PhantomData })
    }

    /// Turns each item into any number of items, in order.
    ///
    /// The results of one item are gathered in memory, and count as one item in the window. If an item has
    /// very many results, use [`serial_flat_map`](Self::serial_flat_map), which passes them on one by one.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let letters = Stream::from_iter(["ab", "", "c"]).flat_map(|word| word.chars()).collect::<Vec<_>>();
    /// assert_eq!(letters, ['a', 'b', 'c']);
    /// ```
    pub fn flat_map<I, F>(self, f: F) -> Stream<'env, FlatMap<U, F, I>, M>
    where
        I: IntoIterator,
        I::Item: Send,
        F: Fn(U::Out) -> I + Sync,
    {
        self.extend(Node::parallel("flat_map"), |before| FlatMap { before, call: f, types: PhantomData })
    }

    /// Calls `f` with a reference to each item, and passes the item on.
    pub fn inspect<F>(self, f: F) -> Stream<'env, Inspect<U, F>, M>
    where
        F: Fn(&U::Out) + Sync,
    {
        self.extend(Node::parallel("inspect"), |before| Inspect { before, call: f, types: PhantomData })
    }

    /// Counts bytes for [`on_progress`](Self::on_progress). `size` returns the number of bytes of an item.
    pub fn count_bytes<F>(self, size: F) -> Stream<'env, CountBytes<U, F>, M>
    where
        F: Fn(&U::Out) -> u64 + Sync,
    {
        let bytes = Arc::clone(&self.draft.attached.bytes);
        self.extend(Node::parallel("count_bytes"), |before| CountBytes { before, call: size, bytes })
    }

    /// Turns each item into another or fails. The first failure in the order of the items ends the stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let halves = |n: u32| if n % 2 == 0 { Ok(n / 2) } else { Err(n) };
    /// assert_eq!(Stream::from_iter([2, 4]).try_map(halves).collect(), Ok(vec![1, 2]));
    /// assert_eq!(Stream::from_iter([2, 3, 4, 5]).try_map(halves).collect::<Vec<_>>(), Err(3));
    /// ```
    pub fn try_map<V, E, F>(self, f: F) -> Stream<'env, TryMap<U, F, V, E>, M::Then>
    where
        V: Send,
        M: Admit<E>,
        F: Fn(U::Out) -> Result<V, E> + Sync,
    {
        self.compose(Node::parallel("try_map").fallible(), |before| TryMap {
            before,
            call: f,
            types: PhantomData,
        })
    }

    /// Turns each item into another, drops it, or fails. `f` runs for several items at once.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let parse = |line: &str| if line.is_empty() { Ok(None) } else { line.parse::<u32>().map(Some) };
    /// assert_eq!(Stream::from_iter(["1", "", "2"]).try_filter_map(parse).sum::<u32>(), Ok(3));
    /// assert!(Stream::from_iter(["1", "x"]).try_filter_map(parse).sum::<u32>().is_err());
    /// ```
    pub fn try_filter_map<V, E, F>(self, f: F) -> Stream<'env, TryFilterMap<U, F, V, E>, M::Then>
    where
        V: Send,
        M: Admit<E>,
        F: Fn(U::Out) -> Result<Option<V>, E> + Sync,
    {
        let node = Node::parallel("try_filter_map").fallible();
        self.compose(node, |before| TryFilterMap { before, call: f, types: PhantomData })
    }

    /// Turns each item into any number of results, for several items at once. The first error ends the stream, behind
    /// the results before it. The rest is as for [`flat_map`](Self::flat_map).
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let numbers = |line: &'static str| line.split(' ').map(str::parse::<u32>);
    /// assert_eq!(Stream::from_iter(["1 2", "3"]).try_flat_map(numbers).sum::<u32>(), Ok(6));
    /// assert!(Stream::from_iter(["1 x", "3"]).try_flat_map(numbers).sum::<u32>().is_err());
    /// ```
    pub fn try_flat_map<I, V, E, F>(self, f: F) -> Stream<'env, TryFlatMap<U, F, I, V, E>, M::Then>
    where
        V: Send,
        I: IntoIterator<Item = Result<V, E>>,
        M: Admit<E>,
        F: Fn(U::Out) -> I + Sync,
    {
        let node = Node::parallel("try_flat_map").fallible();
        self.compose(node, |before| TryFlatMap { before, call: f, types: PhantomData })
    }

    /// Like [`map`](Self::map), with a state that each worker creates for itself by calling `make`.
    ///
    /// The state is created, used and dropped on its worker's thread, so it need not be `Send`. It is not
    /// defined which items use the same state, so the results must not depend on it.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let texts = Stream::from_iter(0..100)
    ///     .map_with(String::new, |buffer, n| {
    ///         buffer.clear(); // its memory is used again
    ///         buffer.extend(std::iter::repeat_n('#', n));
    ///         buffer.len()
    ///     })
    ///     .collect::<Vec<_>>();
    /// assert_eq!(texts, (0..100).collect::<Vec<_>>());
    /// ```
    pub fn map_with<L, V, N, F>(self, make: N, f: F) -> Stream<'env, MapWith<U, N, F>, M>
    where
        V: Send,
        N: Fn() -> L + Sync,
        F: Fn(&mut L, U::Out) -> V + Sync,
    {
        let node = Node::parallel("map_with").state(State::PerWorker);
        self.extend(node, |before| MapWith { before, make, call: f })
    }

    /// Like [`filter_map`](Self::filter_map), with a state that each worker creates for itself. See
    /// [`map_with`](Self::map_with).
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let long = Stream::from_iter(["a b", "c d e", ""])
    ///     .filter_map_with(Vec::new, |words, line| {
    ///         words.clear(); // its memory is used again
    ///         words.extend(line.split_whitespace());
    ///         (words.len() > 2).then_some(line)
    ///     })
    ///     .collect::<Vec<_>>();
    /// assert_eq!(long, ["c d e"]);
    /// ```
    pub fn filter_map_with<L, V, N, F>(self, make: N, f: F) -> Stream<'env, FilterMapWith<U, N, F>, M>
    where
        V: Send,
        N: Fn() -> L + Sync,
        F: Fn(&mut L, U::Out) -> Option<V> + Sync,
    {
        let node = Node::parallel("filter_map_with").state(State::PerWorker);
        self.extend(node, |before| FilterMapWith { before, make, call: f })
    }

    /// Like [`try_map`](Self::try_map), with a state that each worker creates for itself. See
    /// [`map_with`](Self::map_with).
    pub fn try_map_with<L, V, E, N, F>(self, make: N, f: F) -> Stream<'env, TryMapWith<U, N, F>, M::Then>
    where
        V: Send,
        M: Admit<E>,
        N: Fn() -> L + Sync,
        F: Fn(&mut L, U::Out) -> Result<V, E> + Sync,
    {
        let node = Node::parallel("try_map_with").state(State::PerWorker).fallible();
        self.compose(node, |before| TryMapWith { before, make, call: f })
    }
}
