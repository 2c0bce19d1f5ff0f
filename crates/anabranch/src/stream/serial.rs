//! Serial stages: one item at a time, in order.

use std::marker::PhantomData;
use std::sync::Arc;

use anabranch_plan::{ItemType, Node};

use super::Stream;
use crate::engine::{SpreadUpstream, StageUpstream, Tail};
use crate::mode::{Admit, ErrorAfter, Mode};
use crate::serial::{
    Batch, Each, EachOption, EachWhile, Serial, Spread, SpreadEach, SpreadOnly, SpreadWith, Take, TryEach,
    TryEachOption, TrySpreadEach,
};
use crate::shape::Single;
use crate::unit::{Apply, Identity, Unit};

/// The stream behind a serial stage.
type After<'env, U, M, V> = Stream<'env, Identity<V, <U as Unit>::To>, M>;

impl<'env, U, M> Stream<'env, U, M>
where
    U: Apply<M::Error> + Send + 'env,
    M: Mode,
    M::Error: Send + 'env,
{
    /// Closes the open unit and puts a serial stage behind it.
    pub(super) fn stage<Op>(mut self, node: Node, op: Op) -> After<'env, U, M, Op::Out>
    where
        Op: Serial<U::Out, M::Error> + 'env,
        Op::Out: 'env,
    {
        let id = self.draft.outline.add(node, ItemType::of::<U::Out>());
        let errors = Arc::clone(&self.tail.errors);
        let upstream = Box::new(StageUpstream { tail: self.tail, op, id });
        Stream { tail: Tail::open(upstream, errors), draft: self.draft, mode: PhantomData }
    }

    /// Closes the open unit and puts a spreading stage behind it: a new domain begins.
    fn spreading<Op>(mut self, node: Node, op: Op) -> Stream<'env, Identity<Op::Out, Single>, M>
    where
        Op: Spread<U::Out, M::Error> + 'env,
        Op::Out: 'env,
    {
        let id = self.draft.outline.add_domain(node, ItemType::of::<U::Out>());
        let errors = Arc::clone(&self.tail.errors);
        let upstream = Box::new(SpreadUpstream { tail: self.tail, op, id });
        Stream { tail: Tail::open(upstream, errors), draft: self.draft, mode: PhantomData }
    }

    /// Turns each item into any number of items, one after the other, in order; they are handed on one by one
    /// and may run in parallel behind it: a file gives blocks.
    ///
    /// The results have indices and a window of their own. While that window is full, the half-read iterator
    /// waits.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let sum: u64 = Stream::from_iter([3u64, 0, 2])
    ///     .serial_flat_map(|count| (0..count).map(move |n| 10 * count + n))
    ///     .map(|n| n * n) // the items of one count run in parallel too
    ///     .fold(0, |sum, n| sum + n);
    /// assert_eq!(sum, 30 * 30 + 31 * 31 + 32 * 32 + 20 * 20 + 21 * 21);
    /// ```
    pub fn serial_flat_map<J, F>(self, f: F) -> Stream<'env, Identity<J::Item, Single>, M>
    where
        J: IntoIterator<Item: Send + 'env, IntoIter: Send + 'env>,
        F: FnMut(U::Out) -> J + Send + 'env,
    {
        self.spreading(Node::serial("serial_flat_map"), SpreadEach { call: f, open: None })
    }

    /// As [`serial_flat_map`](Self::serial_flat_map), of iterators over results: the first error ends the stream.
    pub fn try_serial_flat_map<V, E, J, F>(self, f: F) -> Stream<'env, Identity<V, Single>, M::Then>
    where
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        U: Apply<ErrorAfter<M, E>>,
        J: IntoIterator<Item = Result<V, E>, IntoIter: Send + 'env>,
        F: FnMut(U::Out) -> J + Send + 'env,
    {
        let node = Node::serial("try_serial_flat_map").fallible();
        self.admit::<E>().spreading(node, TrySpreadEach { call: f, open: None })
    }

    /// Turns each item into any number of items, as [`serial_flat_map`](Self::serial_flat_map), with a state that lasts from
    /// one item to the next: a scanner that finds records in blocks, of which one may begin in a block and end in another.
    ///
    /// `f` is called with the state and the item until it gives `None`; then comes the next item.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// // Words, from blocks that may end within a word.
    /// let blocks = ["to be or n", "ot to", " be "];
    /// let words = Stream::from_iter(blocks).serial_spread(String::new(), |word, block: &mut &str| {
    ///     while let Some(letter) = block.chars().next() {
    ///         *block = &block[letter.len_utf8()..];
    ///         match letter {
    ///             ' ' if word.is_empty() => {}
    ///             ' ' => return Some(std::mem::take(word)),
    ///             _ => word.push(letter),
    ///         }
    ///     }
    ///     None
    /// });
    /// assert_eq!(words.collect::<Vec<_>>(), ["to", "be", "or", "not", "to", "be"]);
    /// ```
    pub fn serial_spread<L, V, F>(self, state: L, mut f: F) -> Stream<'env, Identity<V, Single>, M>
    where
        L: Send + 'env,
        V: Send + 'env,
        U::Out: 'env,
        F: FnMut(&mut L, &mut U::Out) -> Option<V> + Send + 'env,
    {
        let call = move |state: &mut L, item: &mut U::Out| Ok::<_, M::Error>(f(state, item));
        self.spreading(Node::serial("serial_spread"), SpreadWith { state, open: None, call })
    }

    /// As [`serial_spread`](Self::serial_spread), of a function that may fail: the first error ends the stream.
    pub fn try_serial_spread<L, V, E, F>(self, state: L, f: F) -> Stream<'env, Identity<V, Single>, M::Then>
    where
        L: Send + 'env,
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        U: Apply<ErrorAfter<M, E>>,
        U::Out: 'env,
        F: FnMut(&mut L, &mut U::Out) -> Result<Option<V>, E> + Send + 'env,
    {
        let node = Node::serial("try_serial_spread").fallible();
        self.admit::<E>().spreading(node, SpreadWith { state, open: None, call: f })
    }

    /// Gives the items of a batch that a [`flat_map`](Self::flat_map) made indices and a window of their own,
    /// so that the stages behind it run for them in parallel too.
    pub fn spread(self) -> Stream<'env, Identity<U::Out, Single>, M>
    where
        U::Out: 'env,
    {
        self.spreading(Node::serial("spread"), SpreadOnly(None))
    }

    /// Gives order up from here on: results of parallel stages are taken as they come.
    ///
    /// A slow item then holds nobody up until a window of others has overtaken it. Of several failures the
    /// first in time is returned; every item is delivered at most once. What a parallel stage gives has a window of
    /// its own: of several such stages each adds one.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut seen: Vec<u32> = Stream::from_iter(0..100).unordered().map(|n| n * 2).collect();
    /// seen.sort(); // the same items, in any order
    /// assert_eq!(seen, (0..100).map(|n| n * 2).collect::<Vec<_>>());
    /// ```
    pub fn unordered(mut self) -> Self {
        // A unit has one order: with the stages behind this, those of the open unit give it up too.
        self.draft.outline.give_order_up();
        self
    }

    /// Turns each item into another, one after the other, in order. `f` may change what it captures.
    pub fn serial<V, F>(self, f: F) -> After<'env, U, M, V>
    where
        V: Send + 'env,
        F: FnMut(U::Out) -> V + Send + 'env,
    {
        self.stage(Node::serial("serial"), Each(f))
    }

    /// As [`serial`](Self::serial), but takes the items as they are done, not in their order, which is
    /// [given up](Self::unordered): a slow item holds nobody up.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut sum = 0;
    /// let stream = Stream::from_iter(1..=100u32).map(|n| n * n);
    /// stream.serial_unordered(|n| sum += n).for_each(drop);
    /// assert_eq!(sum, 338_350);
    /// ```
    pub fn serial_unordered<V, F>(self, f: F) -> After<'env, U, M, V>
    where
        V: Send + 'env,
        F: FnMut(U::Out) -> V + Send + 'env,
    {
        self.unordered().stage(Node::serial("serial_unordered"), Each(f))
    }

    /// As [`serial`](Self::serial), and drops the items for which `f` gives `None`.
    pub fn serial_filter_map<V, F>(self, f: F) -> After<'env, U, M, V>
    where
        V: Send + 'env,
        F: FnMut(U::Out) -> Option<V> + Send + 'env,
    {
        self.stage(Node::serial("serial_filter_map"), EachOption(f))
    }

    /// Carries a state from item to item; the stream ends at the first item for which `f` gives `None`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let sums = Stream::from_iter(1..).scan(0, |sum, n| { *sum += n; (*sum < 20).then_some(*sum) });
    /// assert_eq!(sums.collect::<Vec<_>>(), [1, 3, 6, 10, 15]);
    /// ```
    pub fn scan<L, V, F>(self, state: L, mut f: F) -> After<'env, U, M, V>
    where
        L: Send + 'env,
        V: Send + 'env,
        F: FnMut(&mut L, U::Out) -> Option<V> + Send + 'env,
    {
        let mut state = state;
        self.stage(Node::serial("scan"), EachWhile(move |item| f(&mut state, item)))
    }

    /// Numbers the items from 0.
    pub fn enumerate(self) -> After<'env, U, M, (usize, U::Out)>
    where
        U::Out: 'env,
    {
        let mut next = 0;
        let number = move |item| {
            next += 1;
            (next - 1, item)
        };
        self.stage(Node::serial("enumerate"), Each(number))
    }

    /// Pairs the items with those of an iterator; the stream ends when the iterator does.
    pub fn zip<I>(self, other: I) -> After<'env, U, M, (U::Out, I::Item)>
    where
        U::Out: 'env,
        I: IntoIterator<IntoIter: Send + 'env, Item: Send + 'env>,
    {
        let mut other = other.into_iter();
        self.stage(Node::serial("zip"), EachWhile(move |item| other.next().map(|second| (item, second))))
    }

    /// Lets `count` items through and ends the stream with the last of them.
    ///
    /// Some of the items that come after it may have been asked of the source already: up to a window. With `count` 0 none
    /// is.
    pub fn take(mut self, count: usize) -> After<'env, U, M, U::Out>
    where
        U::Out: 'env,
    {
        self.draft.attached.takes_none |= count == 0;
        self.stage(Node::serial("take"), Take { left: count })
    }

    /// Lets items through until `f` says no of one; that one is dropped and the stream ends.
    pub fn take_while<F>(self, mut f: F) -> After<'env, U, M, U::Out>
    where
        U::Out: 'env,
        F: FnMut(&U::Out) -> bool + Send + 'env,
    {
        self.stage(Node::serial("take_while"), EachWhile(move |item| f(&item).then_some(item)))
    }

    /// Gathers items into vectors of `size`; the last may be shorter.
    ///
    /// Items that wait in an unfinished batch no longer count in the window.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    pub fn batch(self, size: usize) -> After<'env, U, M, Vec<U::Out>>
    where
        U::Out: 'env,
    {
        assert!(size > 0, "a batch holds 1 item or more, not 0");
        self.stage(Node::serial("batch"), Batch { size, gathered: Vec::new() })
    }

    /// Turns each item into another or fails, one after the other, in order.
    pub fn try_serial<V, E, F>(self, f: F) -> After<'env, U, M::Then, V>
    where
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        U: Apply<ErrorAfter<M, E>>,
        F: FnMut(U::Out) -> Result<V, E> + Send + 'env,
    {
        self.admit::<E>().stage(Node::serial("try_serial").fallible(), TryEach(f))
    }

    /// As [`try_serial`](Self::try_serial), and drops the items for which `f` gives `Ok(None)`.
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
    pub fn try_serial_filter_map<V, E, F>(self, f: F) -> After<'env, U, M::Then, V>
    where
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        U: Apply<ErrorAfter<M, E>>,
        F: FnMut(U::Out) -> Result<Option<V>, E> + Send + 'env,
    {
        self.admit::<E>().stage(Node::serial("try_serial_filter_map").fallible(), TryEachOption(f))
    }
}

impl<'env, U: Unit, M: Mode> Stream<'env, U, M> {
    /// The same stream in the mode in which calls may fail with `E`.
    pub(super) fn admit<E>(self) -> Stream<'env, U, M::Then>
    where
        M: Admit<E>,
    {
        let Tail { upstream, unit, errors, ids, from, shard } = self.tail;
        let tail = Tail { upstream, unit, errors: M::admit(errors), ids, from, shard };
        Stream { tail, draft: self.draft, mode: PhantomData }
    }
}
