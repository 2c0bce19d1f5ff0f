//! Serial stages: one item at a time, in order.

use anabranch_plan::Node;

use crate::stream::options::ForSerial;
use crate::stream::{Admit, Mode, Stream, TryStream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Gives up the order of the items from here on: the results of parallel stages are taken as they are ready. Results
    /// of one worker are taken in turn.
    ///
    /// A slow item then delays no other items, until a whole window of them has overtaken it. If there are several
    /// failures, the first one in time is returned. Every item is delivered at most once. The results of each
    /// such parallel unit have a window of their own.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut seen: Vec<u32> = Stream::from_iter(0..100).unordered().map(|n| n * 2).collect();
    /// seen.sort(); // the same items, in any order
    /// assert_eq!(seen, (0..100).map(|n| n * 2).collect::<Vec<_>>());
    /// ```
    pub fn unordered(mut self) -> Self {
        self.draft.outline.give_order_up();
        self
    }

    /// Turns each item into another, one item at a time, in order. `f` may change the variables that it
    /// captures.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut sum = 0;
    /// let sums = Stream::from_iter(1..=4).map(|n| n * n).serial_map(|n| { sum += n; sum });
    /// assert_eq!(sums.collect::<Vec<_>>(), [1, 5, 14, 30]);
    /// ```
    pub fn serial_map<V, F>(self, mut f: F) -> Stream<'env, V, M>
    where
        O: ForSerial,
        V: Send + 'env,
        F: FnMut(T) -> V + Send + 'env,
    {
        self.serial_each(Node::serial("serial_map"), move |item| Some(f(item)))
    }

    /// Like [`serial_map`](Self::serial_map), but drops the items for which `f` returns `None`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut last = None;
    /// let changes = Stream::from_iter([1, 1, 2, 2, 1])
    ///     .serial_filter_map(|n| (last.replace(n) != Some(n)).then_some(n)); // drops what is equal to the item before
    /// assert_eq!(changes.collect::<Vec<_>>(), [1, 2, 1]);
    /// ```
    pub fn serial_filter_map<V, F>(self, f: F) -> Stream<'env, V, M>
    where
        O: ForSerial,
        V: Send + 'env,
        F: FnMut(T) -> Option<V> + Send + 'env,
    {
        self.serial_each(Node::serial("serial_filter_map"), f)
    }

    /// Like [`serial_map`](Self::serial_map), with a state that lasts from one item to the next. The stream ends at
    /// the first item for which `f` returns `None`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let sums = Stream::from_iter(1..).scan(0, |sum, n| { *sum += n; (*sum < 20).then_some(*sum) });
    /// assert_eq!(sums.collect::<Vec<_>>(), [1, 3, 6, 10, 15]);
    /// ```
    pub fn scan<L, V, F>(self, state: L, mut f: F) -> Stream<'env, V, M>
    where
        O: ForSerial,
        L: Send + 'env,
        V: Send + 'env,
        F: FnMut(&mut L, T) -> Option<V> + Send + 'env,
    {
        let mut state = state;
        self.serial_while(Node::serial("scan"), move |item| f(&mut state, item))
    }

    /// Turns each item into another or fails, one item at a time, in order. The first error ends the stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut left = 5u32;
    /// let rests = Stream::from_iter([2, 3, 1]).try_serial_map(|n| {
    ///     left = left.checked_sub(n).ok_or("not enough")?;
    ///     Ok(left)
    /// });
    /// assert_eq!(rests.collect::<Vec<_>>(), Err("not enough"));
    /// ```
    pub fn try_serial_map<V, E, F>(self, mut f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForSerial,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: FnMut(T) -> Result<V, E> + Send + 'env,
    {
        self.try_serial_each(Node::serial("try_serial_map"), move |item| f(item).map(Some))
    }

    /// Like [`try_serial_map`](Self::try_serial_map), but drops the items for which `f` returns `Ok(None)`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut lines = 0;
    /// let numbers = Stream::from_iter(["7", "", "5"]).try_serial_filter_map(|line| {
    ///     lines += 1;
    ///     Some(line).filter(|line| !line.is_empty()).map(|line| line.parse::<i32>()).transpose()
    /// });
    /// assert_eq!(numbers.collect(), Ok(vec![7, 5]));
    /// assert_eq!(lines, 3);
    /// ```
    pub fn try_serial_filter_map<V, E, F>(self, f: F) -> TryStream<'env, V, M::Failure>
    where
        O: ForSerial,
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: FnMut(T) -> Result<Option<V>, E> + Send + 'env,
    {
        self.try_serial_each(Node::serial("try_serial_filter_map"), f)
    }
}
