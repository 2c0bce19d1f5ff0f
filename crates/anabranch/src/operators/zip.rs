//! Other items beside, behind or between those of a stream: their numbers, or the items of an iterator.

use std::ops::ControlFlow;

use anabranch_plan::Node;

use super::spread::SpreadEach;
use crate::engine::{Flow, Serial};
use crate::stream::{Joins, Mode, Stream, adopt};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Numbers the items from 0.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let lines = Stream::from_iter(["down", "river"]).enumerate();
    /// assert_eq!(lines.collect::<Vec<_>>(), [(0, "down"), (1, "river")]);
    /// ```
    pub fn enumerate(self) -> Stream<'env, (usize, T), M> {
        let mut next = 0;
        let number = move |item| {
            next += 1;
            Some((next - 1, item))
        };
        self.serial_each(Node::serial("enumerate"), number)
    }

    /// Pairs each item with the next item of an iterator. The stream ends when the iterator ends.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let pairs = Stream::from_iter(["down", "the", "river"]).zip([4, 3]);
    /// assert_eq!(pairs.collect::<Vec<_>>(), [("down", 4), ("the", 3)]);
    /// ```
    pub fn zip<I>(self, other: I) -> Stream<'env, (T, I::Item), M>
    where
        I: IntoIterator<IntoIter: Send + 'env, Item: Send + 'env>,
    {
        let (mut other, inner) = adopt(other, Joins::Pairs);
        self.serial_while(Node::serial("zip"), move |item| other.next().map(|second| (item, second)))
            .with_inner(inner)
    }

    /// Gives the items of an iterator behind those of the stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// assert_eq!(Stream::from_iter(0..2).map(|n| n + 1).chain([7, 8]).collect::<Vec<_>>(), [1, 2, 7, 8]);
    /// ```
    #[track_caller]
    pub fn chain<I>(self, other: I) -> Stream<'env, T, M>
    where
        I: IntoIterator<Item = T, IntoIter: Send + 'env>,
    {
        self.with("chain", other, false)
    }

    /// Alternates between the items of the stream and of an iterator, beginning with the stream. After one of them has ended,
    /// gives the rest of the other.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let both = Stream::from_iter([1, 2, 3]).interleave([10, 20]);
    /// assert_eq!(both.collect::<Vec<_>>(), [1, 10, 2, 20, 3]);
    /// ```
    #[track_caller]
    pub fn interleave<I>(self, other: I) -> Stream<'env, T, M>
    where
        I: IntoIterator<Item = T, IntoIter: Send + 'env>,
    {
        self.with("interleave", other, true)
    }

    #[track_caller]
    fn with<I>(self, name: &'static str, other: I, alternates: bool) -> Stream<'env, T, M>
    where
        I: IntoIterator<Item = T, IntoIter: Send + 'env>,
    {
        let (other, inner) = adopt(other, Joins::Beside);
        let strands = self.stage(Node::serial(name), With { other: Some(other), alternates });
        strands
            .spreading(Node::serial(name), SpreadEach { call: |strand| strand, open: None })
            .with_inner(inner)
    }
}

/// A serial stage that gives the items of an iterator behind or between its own.
struct With<I> {
    other: Option<I>,
    /// One of the other's items follows each of its own.
    alternates: bool,
}

impl<T: Send, E, I: Iterator<Item = T> + Send> Serial<T, E> for With<I> {
    type Out = Strand<T, I>;

    fn call(&mut self, item: T, give: &mut impl FnMut(Self::Out)) -> Flow<E> {
        let second = if self.alternates { self.other.as_mut().and_then(Iterator::next) } else { None };
        if self.alternates && second.is_none() {
            // The other has ended, even if it would go on.
            self.other = None;
        }
        give(Strand { first: Some(item), second, rest: None });
        ControlFlow::Continue(())
    }

    fn finish(&mut self, give: &mut impl FnMut(Self::Out)) -> Flow<E> {
        give(Strand { first: None, second: None, rest: self.other.take() });
        ControlFlow::Continue(())
    }
}

/// What [`With`] gives for one item, or at the end.
struct Strand<T, I> {
    first: Option<T>,
    second: Option<T>,
    rest: Option<I>,
}

impl<T, I: Iterator<Item = T>> Iterator for Strand<T, I> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.first.take().or_else(|| self.second.take()).or_else(|| self.rest.as_mut()?.next())
    }
}
