//! Serial stages: one item at a time, in order.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use anabranch_plan::{ItemType, Node};
use anabranch_record::sync::Arc;

use super::Stream;
use crate::engine::{SpreadUpstream, StageUpstream, Upstream};
use crate::flow::Halt;
use crate::mode::{Admit, ErrorAfter, Mode};
use crate::serial::{
    Batch, Serial, SerialEach, Spread, SpreadEach, SpreadOnly, SpreadWith, Take, TrySpreadEach,
};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// The stream with more code behind its own. `extend` gets the code so far.
    pub(super) fn with_code<V: Send>(
        self,
        extend: impl FnOnce(Box<dyn Upstream<T> + 'env>) -> Box<dyn Upstream<V> + 'env>,
    ) -> Stream<'env, V, M> {
        let Self { code, errors, draft, mode } = self;
        Stream { code: extend(code), errors, draft, mode }
    }

    /// Adds a serial stage.
    pub(super) fn stage<Op>(mut self, node: Node, op: Op) -> Stream<'env, Op::Out, M>
    where
        Op: Serial<T, M::Error, Out: 'env> + 'env,
    {
        let id = self.draft.outline.add(node, ItemType::of::<T>());
        let errors = Arc::clone(&self.errors);
        self.with_code(|before| Box::new(StageUpstream { before, errors, op, id }))
    }

    /// Adds a serial stage that gives at most one result for an item, and cannot fail.
    pub(super) fn serial_each<V, F>(self, node: Node, mut f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: FnMut(T) -> Option<V> + Send + 'env,
    {
        self.stage(node, SerialEach(move |item| ControlFlow::Continue(f(item))))
    }

    /// Adds a serial stage that ends the stream if its function returns `None`.
    pub(super) fn serial_while<V, F>(self, node: Node, mut f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: FnMut(T) -> Option<V> + Send + 'env,
    {
        let call = move |item| match f(item) {
            None => ControlFlow::Break(Halt::Break),
            result => ControlFlow::Continue(result),
        };
        self.stage(node, SerialEach(call))
    }

    /// Adds a serial stage that gives at most one result for an item, and may fail.
    fn try_serial_each<V, E, F>(self, node: Node, mut f: F) -> Stream<'env, V, M::Then>
    where
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        F: FnMut(T) -> Result<Option<V>, E> + Send + 'env,
    {
        let call = move |item| match f(item) {
            Ok(result) => ControlFlow::Continue(result),
            Err(error) => ControlFlow::Break(Halt::Error(error.into())),
        };
        self.admit::<E>().stage(node.fallible(), SerialEach(call))
    }

    /// Adds a spreading stage. A new domain begins there.
    #[track_caller]
    pub(super) fn spreading<Op>(mut self, node: Node, op: Op) -> Stream<'env, Op::Out, M>
    where
        Op: Spread<T, M::Error, Out: 'env> + 'env,
    {
        let id = self.draft.outline.add_domain(node, ItemType::of::<T>());
        let errors = Arc::clone(&self.errors);
        self.with_code(|before| Box::new(SpreadUpstream { before, errors, op, id }))
    }

    /// Turns each item into any number of items, for example a file into blocks. It takes one item at a time,
    /// in order. The results are passed on one by one, and the stages behind may process them in parallel.
    ///
    /// The results have indices and a window of their own. While this window is full, the iterator is not
    /// asked for more.
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
    pub fn serial_flat_map<J, F>(self, f: F) -> Stream<'env, J::Item, M>
    where
        J: IntoIterator<Item: Send + 'env, IntoIter: Send + 'env>,
        F: FnMut(T) -> J + Send + 'env,
    {
        self.spreading(Node::serial("serial_flat_map"), SpreadEach { call: f, open: None })
    }

    /// Like [`serial_flat_map`](Self::serial_flat_map), with iterators over results. The first error ends the
    /// stream.
    pub fn try_serial_flat_map<V, E, J, F>(self, f: F) -> Stream<'env, V, M::Then>
    where
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        J: IntoIterator<Item = Result<V, E>, IntoIter: Send + 'env>,
        F: FnMut(T) -> J + Send + 'env,
    {
        let node = Node::serial("try_serial_flat_map").fallible();
        self.admit::<E>().spreading(node, TrySpreadEach { call: f, open: None })
    }

    /// Like [`serial_flat_map`](Self::serial_flat_map), with a state that lasts from one item to the next. An
    /// example is a scanner that finds records in blocks, where a record may begin in one block and end in
    /// another.
    ///
    /// `f` is called with the state and the item until it returns `None`. Then the next item is taken.
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
    pub fn serial_spread<L, V, F>(self, state: L, mut f: F) -> Stream<'env, V, M>
    where
        L: Send + 'env,
        V: Send + 'env,
        F: FnMut(&mut L, &mut T) -> Option<V> + Send + 'env,
    {
        let call = move |state: &mut L, item: &mut T| Ok::<_, M::Error>(f(state, item));
        self.spreading(Node::serial("serial_spread"), SpreadWith { state, open: None, call })
    }

    /// Like [`serial_spread`](Self::serial_spread), with a function that may fail. The first error ends the
    /// stream.
    pub fn try_serial_spread<L, V, E, F>(self, state: L, f: F) -> Stream<'env, V, M::Then>
    where
        L: Send + 'env,
        V: Send + 'env,
        E: 'env,
        M: Admit<E>,
        ErrorAfter<M, E>: 'env,
        F: FnMut(&mut L, &mut T) -> Result<Option<V>, E> + Send + 'env,
    {
        let node = Node::serial("try_serial_spread").fallible();
        self.admit::<E>().spreading(node, SpreadWith { state, open: None, call: f })
    }

    /// Splits the batches that a [`flat_map`](Self::flat_map) has made into single items. Each item gets an
    /// index of its own, in a new window. The stages behind can therefore process the items of one batch in
    /// parallel.
    pub fn spread(self) -> Stream<'env, T, M> {
        self.spreading(Node::serial("spread"), SpreadOnly(None))
    }

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

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Returns the same stream, in the mode in which calls may fail with `E`.
    pub(super) fn admit<E>(self) -> Stream<'env, T, M::Then>
    where
        M: Admit<E>,
    {
        let Self { code, errors, draft, .. } = self;
        Stream { code, errors: M::admit(errors), draft, mode: PhantomData }
    }
}
