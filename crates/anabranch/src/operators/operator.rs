//! Stages that users write.

use std::ops::ControlFlow;

use anabranch_plan::Node;

use crate::engine::{Flow, Halt, Serial};
use crate::stream::options::ForSerial;
use crate::stream::{Admit, Mode, Stream, TryStream};

/// A serial stage of your own: it has a state, gives any number of results for an item, and may give more at the end.
///
/// [`Stream::operator`] and [`Stream::try_operator`] add it to a stream. It takes one item at a time, in order, as in this loop:
///
/// ```text
/// for item in source {
///     operator.item(item, results);
/// }
/// operator.end(results);
/// ```
///
/// The operator needs to know nothing about threads:
///
/// - What it gives goes on in this order, at the place of the item. The results of one item stay together, as those of a
///   [`flat_map`](Stream::flat_map) do, until [`spread`](Stream::spread) gives each a place of its own.
/// - If it fails or panics, the stream ends at this item. The results that it has given before go on, and [`end`](Self::end) is not called.
/// - If the source ends, if a stage before it needs no more items, or if the stream is [drained](crate::CancelToken::drain),
///   `end` is called once. If the stream fails before it or is cancelled, `end` is not called. In each case the operator is dropped
///   once.
///
/// [`chunks`](Stream::chunks), [`chunk_by`](Stream::chunk_by) and [`sorted_within_by_key`](Stream::sorted_within_by_key) are written
/// with it. Here is the mean of each item and the ones before it:
///
/// ```
/// use std::collections::VecDeque;
/// use std::convert::Infallible;
/// use anabranch::{Operator, Results, Stream};
///
/// /// The mean of the last `size` items, from the first on that has so many.
/// struct MovingMean {
///     size: usize,
///     last: VecDeque<f64>,
/// }
///
/// impl Operator<f64> for MovingMean {
///     type Out = f64;
///     type Error = Infallible; // it cannot fail
///     const GIVES_MANY: bool = false; // an item has one result at most
///
///     fn item(&mut self, item: f64, results: &mut Results<'_, f64>) -> Result<(), Infallible> {
///         self.last.push_back(item);
///         if self.last.len() == self.size {
///             results.give(self.last.iter().sum::<f64>() / self.size as f64);
///             self.last.pop_front();
///         }
///         Ok(())
///     }
/// }
///
/// let readings = Stream::from_iter([1, 3, 5, 9]).map(f64::from);
/// let means = readings.named("moving mean").operator(MovingMean { size: 2, last: VecDeque::new() });
/// assert_eq!(means.map(|mean| mean * 10.0).collect::<Vec<_>>(), [20.0, 40.0, 70.0]);
/// ```
pub trait Operator<T> {
    /// The results.
    type Out: Send;
    /// The error with which it fails. [`Infallible`](std::convert::Infallible) if it cannot fail.
    type Error;

    /// Whether [`item`](Self::item) may give several results for an item. If not, `false` makes the stage quicker, and lets it be in a
    /// branch that is [zipped](crate::Branches::zip).
    const GIVES_MANY: bool = true;

    /// Takes an item, and gives its results.
    ///
    /// # Errors
    /// Those of the operator. The stream ends with the error.
    fn item(&mut self, item: T, results: &mut Results<'_, Self::Out>) -> Result<(), Self::Error>;

    /// The stream has ended: gives what the operator has kept. By default it gives nothing.
    ///
    /// # Errors
    /// Those of the operator. The stream ends with the error.
    fn end(&mut self, _results: &mut Results<'_, Self::Out>) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Takes the results of an [`Operator`].
#[derive(Debug)]
pub struct Results<'r, V>(Place<'r, V>);

/// The place of the results: one place if an item has one result at most.
#[derive(Debug)]
enum Place<'r, V> {
    One(&'r mut Option<V>),
    Many(&'r mut Vec<V>),
}

impl<V> Results<'_, V> {
    /// Gives a result.
    ///
    /// # Panics
    /// If it is the second one of an item, and [`Operator::GIVES_MANY`] is `false`.
    #[inline]
    pub fn give(&mut self, result: V) {
        match &mut self.0 {
            Place::Many(results) => results.push(result),
            Place::One(place) => {
                let before = place.replace(result);
                assert!(
                    before.is_none(),
                    "an operator whose `GIVES_MANY` is false gave two results for an item"
                );
            }
        }
    }
}

impl<V> Extend<V> for Results<'_, V> {
    /// Gives several results.
    fn extend<I: IntoIterator<Item = V>>(&mut self, results: I) {
        results.into_iter().for_each(|result| self.give(result));
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Adds a stage of your own, which cannot fail: see [`Operator`].
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use anabranch::{Operator, Results, Stream};
    ///
    /// /// Puts each item before the one that came before it.
    /// struct Swap<T>(Option<T>);
    ///
    /// impl<T: Send> Operator<T> for Swap<T> {
    ///     type Out = T;
    ///     type Error = Infallible;
    ///
    ///     fn item(&mut self, item: T, results: &mut Results<'_, T>) -> Result<(), Infallible> {
    ///         match self.0.take() {
    ///             Some(before) => results.extend([item, before]),
    ///             None => self.0 = Some(item),
    ///         }
    ///         Ok(())
    ///     }
    ///
    ///     fn end(&mut self, results: &mut Results<'_, T>) -> Result<(), Infallible> {
    ///         results.extend(self.0.take());
    ///         Ok(())
    ///     }
    /// }
    ///
    /// assert_eq!(Stream::from_iter(0..5).operator(Swap(None)).collect::<Vec<_>>(), [1, 0, 3, 2, 4]);
    /// ```
    #[track_caller]
    pub fn operator<Op>(mut self, operator: Op) -> Stream<'env, Op::Out, M>
    where
        O: ForSerial,
        Op: Operator<T, Out: 'env, Error = std::convert::Infallible> + Send + 'env,
    {
        self.draft.outline.gives_many |= Op::GIVES_MANY;
        self.operated(Node::serial("operator"), operator)
    }

    /// Like [`operator`](Self::operator), for an operator that may fail. The first error ends the stream.
    ///
    /// ```
    /// use anabranch::{Operator, Results, Stream};
    ///
    /// /// Checks that numbers follow each other.
    /// struct InSequence(u64);
    ///
    /// impl Operator<u64> for InSequence {
    ///     type Out = u64;
    ///     type Error = String;
    ///
    ///     fn item(&mut self, number: u64, results: &mut Results<'_, u64>) -> Result<(), String> {
    ///         if number != self.0 {
    ///             return Err(format!("{number} follows {} numbers", self.0));
    ///         }
    ///         self.0 += 1;
    ///         results.give(number);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let checked = |numbers: &[u64]| Stream::from_iter(numbers.to_vec()).try_operator(InSequence(0)).count();
    /// assert_eq!(checked(&[0, 1, 2]), Ok(3));
    /// assert_eq!(checked(&[0, 1, 3]), Err("3 follows 2 numbers".to_owned()));
    /// ```
    #[track_caller]
    pub fn try_operator<Op>(self, operator: Op) -> TryStream<'env, Op::Out, M::Failure>
    where
        O: ForSerial,
        M: Admit<Op::Error, Failure: 'env>,
        Op: Operator<T, Out: 'env, Error: 'env> + Send + 'env,
    {
        let mut stream = self.admit::<Op::Error>();
        stream.draft.outline.gives_many |= Op::GIVES_MANY;
        stream.stage(Node::serial("try_operator").fallible(), Operated(operator, Into::into))
    }

    /// Adds an operator that cannot fail as the stage `node`.
    pub(super) fn operated<Op>(self, node: Node, operator: Op) -> Stream<'env, Op::Out, M>
    where
        Op: Operator<T, Out: 'env, Error = std::convert::Infallible> + Send + 'env,
    {
        self.stage(node, Operated(operator, |error: std::convert::Infallible| match error {}))
    }
}

/// An operator as a serial stage, and what makes the stream's error of its error.
struct Operated<Op, C>(Op, C);

impl<T, E, Op: Operator<T>, C: Fn(Op::Error) -> E> Serial<T, E> for Operated<Op, C> {
    type Out = Op::Out;

    fn gives_many(&self) -> bool {
        Op::GIVES_MANY
    }

    #[inline]
    fn one(&mut self, item: T, given: &mut Option<Op::Out>) -> Flow<E> {
        let Self(operator, convert) = self;
        flow(operator.item(item, &mut Results(Place::One(given))), &*convert)
    }

    #[inline]
    fn many(&mut self, item: T, given: &mut Vec<Op::Out>) -> Flow<E> {
        let Self(operator, convert) = self;
        flow(operator.item(item, &mut Results(Place::Many(given))), &*convert)
    }

    fn finish(&mut self, given: &mut Vec<Op::Out>) -> Flow<E> {
        let Self(operator, convert) = self;
        flow(operator.end(&mut Results(Place::Many(given))), &*convert)
    }
}

fn flow<E, X>(result: Result<(), X>, convert: impl Fn(X) -> E) -> Flow<E> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(Halt::Error(convert(error))),
    }
}
