//! Other items beside, behind or between those of a stream: their numbers, or the items of an iterator.

use std::ops::ControlFlow;

use anabranch_plan::Node;

use crate::engine::{Flow, Halt, Pulled, Serial, Spread};
use crate::stream::options::ForSerial;
use crate::stream::{Joins, Mode, Stream, adopt};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Numbers the items from 0.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let lines = Stream::from_iter(["down", "river"]).enumerate();
    /// assert_eq!(lines.collect::<Vec<_>>(), [(0, "down"), (1, "river")]);
    /// ```
    pub fn enumerate(self) -> Stream<'env, (usize, T), M>
    where
        O: ForSerial,
    {
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
        O: ForSerial,
        I: IntoIterator<IntoIter: Send + 'env, Item: Send + 'env>,
    {
        let (other, inner) = adopt(other, Joins::Pairs, "zip");
        self.stage(Node::serial("zip"), Pairs(other)).with_inner(inner)
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
        O: ForSerial,
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
        O: ForSerial,
        I: IntoIterator<Item = T, IntoIter: Send + 'env>,
    {
        self.with("interleave", other, true)
    }

    #[track_caller]
    fn with<I>(self, name: &'static str, other: I, alternates: bool) -> Stream<'env, T, M>
    where
        I: IntoIterator<Item = T, IntoIter: Send + 'env>,
    {
        let (other, inner) = adopt(other, Joins::Beside, name);
        let turn = Turn::Own;
        let with = With { open: None, other: Some(other), alternates, turn };
        self.spreading(Node::serial(name), with).with_inner(inner)
    }
}

/// A serial stage that pairs its items with those of an iterator. It moves a pair once: pairs may be large.
struct Pairs<I>(I);

impl<T: Send, E, I: Iterator<Item: Send> + Send> Serial<T, E> for Pairs<I> {
    type Out = (T, I::Item);

    #[inline]
    fn one(&mut self, item: T, given: &mut Option<Self::Out>) -> Flow<E> {
        match self.0.next() {
            Some(other) => *given = Some((item, other)),
            None => return ControlFlow::Break(Halt::Break),
        }
        ControlFlow::Continue(())
    }
}

/// A spreading stage that gives the items of an iterator behind or between its own.
struct With<T, I> {
    /// An item of its own.
    open: Option<T>,
    other: Option<I>,
    /// One of the other's items follows each of its own.
    alternates: bool,
    turn: Turn,
}

/// The items of which the next one is.
#[derive(Clone, Copy)]
enum Turn {
    Own,
    /// One of the other's items, between its own.
    Other,
    /// The other's items to the last, as its own have ended.
    Rest,
}

impl<T: Send, E, I: Iterator<Item = T> + Send> Spread<T, E> for With<T, I> {
    type Out = T;

    fn open(&mut self, item: T) {
        self.open = Some(item);
    }

    #[inline]
    fn next(&mut self) -> Pulled<T, E> {
        let next = match self.turn {
            Turn::Own => {
                let own = self.open.take();
                if self.alternates && own.is_some() {
                    self.turn = Turn::Other;
                }
                own
            }
            Turn::Other => {
                self.turn = Turn::Own;
                let other = self.other.as_mut().and_then(Iterator::next);
                if other.is_none() {
                    // It is not asked again, even if it would go on.
                    self.other = None;
                }
                other
            }
            Turn::Rest => self.other.as_mut().and_then(Iterator::next),
        };
        next.map_or(Pulled::End, Pulled::Item)
    }

    fn end(&mut self) -> bool {
        self.turn = Turn::Rest;
        self.other.is_some()
    }
}
