//! Parallel stages without order: each item on its own.

use std::sync::atomic::Ordering;

use anabranch_plan::{Node, State};
use anabranch_record::sync::Arc;

use crate::engine::{ParallelEach, ParallelMany};
use crate::stream::options::ForParallel;
use crate::stream::{Admit, Mode, Stream, TryStream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Turns each item into another. `f` runs for several items at once.
    ///
    /// A function that is `async` gives futures, which nothing polls: the stream would be one of futures. Call what blocks
    /// instead, with [`replicas`](Self::replicas) for as many calls at once as should be, or run the futures in a runtime,
    /// and let `from_async` take their results.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(1..=3).map(|n| n * n).collect::<Vec<_>>(), [1, 4, 9]);
    /// ```
    pub fn map<V, F>(self, f: F) -> Stream<'env, V, M>
    where
        O: ForParallel,
        V: Send + 'env,
        F: Fn(T) -> V + Send + Sync + 'env,
    {
        self.each(Node::parallel("map"), move |item| Some(f(item)))
    }

    /// Keeps the items for which `f` returns `true`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(1..=6).filter(|n| n % 3 == 0).collect::<Vec<_>>(), [3, 6]);
    /// ```
    pub fn filter<F>(self, f: F) -> Stream<'env, T, M>
    where
        O: ForParallel,
        F: Fn(&T) -> bool + Send + Sync + 'env,
    {
        self.each(Node::parallel("filter"), move |item| f(&item).then_some(item))
    }

    /// Turns each item into another, or drops it if `f` returns `None`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let numbers = Stream::from_iter(["1", "x", "3"]).filter_map(|word| word.parse::<u32>().ok());
    /// assert_eq!(numbers.collect::<Vec<_>>(), [1, 3]);
    /// ```
    pub fn filter_map<V, F>(self, f: F) -> Stream<'env, V, M>
    where
        O: ForParallel,
        V: Send + 'env,
        F: Fn(T) -> Option<V> + Send + Sync + 'env,
    {
        self.each(Node::parallel("filter_map"), f)
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
    pub fn flat_map<I, F>(self, f: F) -> Stream<'env, I::Item, M>
    where
        O: ForParallel,
        I: IntoIterator<Item: Send + 'env>,
        F: Fn(T) -> I + Send + Sync + 'env,
    {
        self.many(Node::parallel("flat_map"), f)
    }

    /// Gives the items that are in each item, as [`flat_map`](Self::flat_map) does.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter([vec![1, 2], vec![3]]).flatten().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    pub fn flatten(self) -> Stream<'env, T::Item, M>
    where
        O: ForParallel,
        T: IntoIterator<Item: Send + 'env>,
    {
        self.many(Node::parallel("flatten"), |items| items)
    }

    /// Calls `f` with a reference to each item, and passes the item on.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = Stream::from_iter(["down", "river"]).inspect(|word| println!("{word}"));
    /// assert_eq!(words.count(), 2);
    /// ```
    pub fn inspect<F>(self, f: F) -> Stream<'env, T, M>
    where
        O: ForParallel,
        F: Fn(&T) + Send + Sync + 'env,
    {
        let look = move |item| {
            f(&item);
            Some(item)
        };
        self.each(Node::parallel("inspect"), look)
    }

    /// Counts bytes for [`Watch::progress`](crate::Watch::progress). `size` returns the number of bytes of an item.
    ///
    /// ```
    /// use anabranch::{Stream, Watch};
    ///
    /// let mut bytes = 0;
    /// Stream::from_iter(["down", "river"])
    ///     .watch(Watch::progress(|progress| bytes = progress.bytes))
    ///     .count_bytes(|word| word.len() as u64)
    ///     .for_each(drop);
    /// assert_eq!(bytes, 9);
    /// ```
    pub fn count_bytes<F>(self, size: F) -> Stream<'env, T, M>
    where
        O: ForParallel,
        F: Fn(&T) -> u64 + Send + Sync + 'env,
    {
        let bytes = Arc::clone(&self.draft.attached.bytes);
        let count = move |item| {
            bytes.fetch_add(size(&item), Ordering::Relaxed);
            Some(item)
        };
        self.each(Node::parallel("count_bytes"), count)
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
    pub fn try_map<V, E, F>(self, f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForParallel,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: Fn(T) -> Result<V, E> + Send + Sync + 'env,
    {
        self.try_each(Node::parallel("try_map"), move |item| f(item).map(Some))
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
    pub fn try_filter_map<V, E, F>(self, f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForParallel,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: Fn(T) -> Result<Option<V>, E> + Send + Sync + 'env,
    {
        self.try_each(Node::parallel("try_filter_map"), f)
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
    pub fn try_flat_map<I, V, E, F>(self, f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForParallel,
        V: Send + 'env,
        I: IntoIterator<Item = Result<V, E>>,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: Fn(T) -> I + Send + Sync + 'env,
    {
        self.admit::<E>().parallel(Node::parallel("try_flat_map").fallible(), ParallelMany::new(f))
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
    ///     .map_init(String::new, |buffer, n| {
    ///         buffer.clear(); // its memory is used again
    ///         buffer.extend(std::iter::repeat_n('#', n));
    ///         buffer.len()
    ///     })
    ///     .collect::<Vec<_>>();
    /// assert_eq!(texts, (0..100).collect::<Vec<_>>());
    /// ```
    pub fn map_init<L, V, N, F>(self, make: N, f: F) -> Stream<'env, V, M>
    where
        O: ForParallel,
        L: 'env,
        V: Send + 'env,
        N: Fn() -> L + Send + Sync + 'env,
        F: Fn(&mut L, T) -> V + Send + Sync + 'env,
    {
        let node = Node::parallel("map_init").state(State::PerWorker);
        let call = move |local: &mut L, item| Ok::<_, M::Error>(Some(f(local, item)));
        self.parallel(node, ParallelEach::new(make, call))
    }

    /// Like [`filter_map`](Self::filter_map), with a state that each worker creates for itself.
    pub(crate) fn filter_map_with<L, V, N, F>(self, make: N, f: F) -> Stream<'env, V, M>
    where
        O: ForParallel,
        L: 'env,
        V: Send + 'env,
        N: Fn() -> L + Send + Sync + 'env,
        F: Fn(&mut L, T) -> Option<V> + Send + Sync + 'env,
    {
        let node = Node::parallel("filter_map_with").state(State::PerWorker);
        let call = move |local: &mut L, item| Ok::<_, M::Error>(f(local, item));
        self.parallel(node, ParallelEach::new(make, call))
    }

    /// Like [`try_map`](Self::try_map), with a state that each worker creates for itself. See
    /// [`map_init`](Self::map_init).
    ///
    /// ```
    /// use std::fmt::{self, Write};
    /// use anabranch::Stream;
    ///
    /// let lengths = Stream::from_iter([7, 1_000]).try_map_init(String::new, |buffer, n| {
    ///     buffer.clear(); // its memory is used again
    ///     write!(buffer, "{n}")?;
    ///     Ok::<_, fmt::Error>(buffer.len())
    /// });
    /// assert_eq!(lengths.collect(), Ok(vec![1, 4]));
    /// ```
    pub fn try_map_init<L, V, E, N, F>(self, make: N, f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForParallel,
        L: 'env,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        N: Fn() -> L + Send + Sync + 'env,
        F: Fn(&mut L, T) -> Result<V, E> + Send + Sync + 'env,
    {
        let node = Node::parallel("try_map_init").state(State::PerWorker).fallible();
        let call = move |local: &mut L, item| f(local, item).map(Some);
        self.admit::<E>().parallel(node, ParallelEach::new(make, call))
    }
}
