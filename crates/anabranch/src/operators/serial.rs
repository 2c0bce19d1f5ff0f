//! Serial stages: one item at a time, in order.

use std::ops::ControlFlow;

use anabranch_plan::Node;

use crate::engine::{Flow, Halt, Serial};
use crate::stream::{Admit, ErrorAfter, Mode, Stream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Gives up the order of the items from here on: the results of parallel stages are taken as they are ready. Those
    /// of one worker are taken in turn.
    ///
    /// A slow item then delays no other items, until a whole window of them has overtaken it. Of several
    /// failures, the first in time is returned. Every item is delivered at most once. The results of each
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
    pub fn serial<V, F>(self, mut f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: FnMut(T) -> V + Send + 'env,
    {
        self.serial_each(Node::serial("serial"), move |item| Some(f(item)))
    }

    /// Like [`serial`](Self::serial), but takes the items in the order in which they finish. It gives up the
    /// order of the items, as [`unordered`](Self::unordered) does.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut sum = 0;
    /// let stream = Stream::from_iter(1..=100u32).map(|n| n * n);
    /// stream.serial_unordered(|n| sum += n).for_each(drop);
    /// assert_eq!(sum, 338_350);
    /// ```
    pub fn serial_unordered<V, F>(self, mut f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: FnMut(T) -> V + Send + 'env,
    {
        self.unordered().serial_each(Node::serial("serial_unordered"), move |item| Some(f(item)))
    }

    /// Like [`serial`](Self::serial), but drops the items for which `f` returns `None`.
    pub fn serial_filter_map<V, F>(self, f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: FnMut(T) -> Option<V> + Send + 'env,
    {
        self.serial_each(Node::serial("serial_filter_map"), f)
    }

    /// Like [`serial`](Self::serial), with a state that lasts from one item to the next. The stream ends at
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
        L: Send + 'env,
        V: Send + 'env,
        F: FnMut(&mut L, T) -> Option<V> + Send + 'env,
    {
        let mut state = state;
        self.serial_while(Node::serial("scan"), move |item| f(&mut state, item))
    }

    /// Numbers the items from 0.
    pub fn enumerate(self) -> Stream<'env, (usize, T), M> {
        let mut next = 0;
        let number = move |item| {
            next += 1;
            Some((next - 1, item))
        };
        self.serial_each(Node::serial("enumerate"), number)
    }

    /// Pairs each item with the next item of an iterator. The stream ends when the iterator ends.
    pub fn zip<I>(self, other: I) -> Stream<'env, (T, I::Item), M>
    where
        I: IntoIterator<IntoIter: Send + 'env, Item: Send + 'env>,
    {
        let mut other = other.into_iter();
        self.serial_while(Node::serial("zip"), move |item| other.next().map(|second| (item, second)))
    }

    /// Passes on `count` items, and ends the stream with the last of them.
    ///
    /// The source may have given up to one window of items more. If `count` is 0, the source is not asked at
    /// all.
    pub fn take(mut self, count: usize) -> Stream<'env, T, M> {
        self.draft.attached.takes_none |= count == 0;
        self.stage(Node::serial("take"), Take { left: count })
    }

    /// Passes on items while `f` returns `true`. The first item for which `f` returns `false` is dropped and
    /// ends the stream.
    pub fn take_while<F>(self, mut f: F) -> Stream<'env, T, M>
    where
        F: FnMut(&T) -> bool + Send + 'env,
    {
        self.serial_while(Node::serial("take_while"), move |item| f(&item).then_some(item))
    }

    /// Gathers items into vectors of `size` items. The last vector may be shorter.
    ///
    /// While the source waits, a vector waits with it. If it should not, use [`ready_chunks`](Self::ready_chunks).
    ///
    /// Items in an unfinished batch do not count in the window.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    pub fn batch(self, size: usize) -> Stream<'env, Vec<T>, M> {
        assert!(size > 0, "a batch holds 1 item or more, not 0");
        self.stage(Node::serial("batch"), Batch { size, gathered: Vec::new() })
    }

    /// Turns each item into another or fails, one item at a time, in order. The first error ends the stream.
    pub fn try_serial<V, E, F>(self, mut f: F) -> Stream<'env, V, M::Then>
    where
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        F: FnMut(T) -> Result<V, E> + Send + 'env,
    {
        self.try_serial_each(Node::serial("try_serial"), move |item| f(item).map(Some))
    }

    /// Like [`try_serial`](Self::try_serial), but drops the items for which `f` returns `Ok(None)`.
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
    pub fn try_serial_filter_map<V, E, F>(self, f: F) -> Stream<'env, V, M::Then>
    where
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        F: FnMut(T) -> Result<Option<V>, E> + Send + 'env,
    {
        self.try_serial_each(Node::serial("try_serial_filter_map"), f)
    }
}

/// A serial stage that passes on the first items, and ends the stream with the last of them.
pub(crate) struct Take {
    pub(crate) left: usize,
}

impl<T: Send, E> Serial<T, E> for Take {
    type Out = T;

    #[inline]
    fn call(&mut self, item: T, give: &mut impl FnMut(T)) -> Flow<E> {
        if self.left == 0 {
            return ControlFlow::Break(Halt::Break);
        }
        self.left -= 1;
        give(item);
        if self.left == 0 { ControlFlow::Break(Halt::Break) } else { ControlFlow::Continue(()) }
    }
}

/// A serial stage that gathers items into vectors of `size` items. The last vector may be shorter.
pub(crate) struct Batch<T> {
    pub(crate) size: usize,
    pub(crate) gathered: Vec<T>,
}

impl<T: Send, E> Serial<T, E> for Batch<T> {
    type Out = Vec<T>;

    #[inline]
    fn call(&mut self, item: T, give: &mut impl FnMut(Vec<T>)) -> Flow<E> {
        if self.gathered.capacity() == 0 {
            // A very large `size` may never be reached, so the memory for it is not reserved at once.
            self.gathered.reserve(self.size.min(1024));
        }
        self.gathered.push(item);
        if self.gathered.len() == self.size {
            give(std::mem::take(&mut self.gathered));
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self, give: &mut impl FnMut(Vec<T>)) -> Flow<E> {
        if !self.gathered.is_empty() {
            give(std::mem::take(&mut self.gathered));
        }
        ControlFlow::Continue(())
    }
}
