//! Streams whose type depends only on their items and errors. Such a type can be named in fields and
//! signatures.

use std::marker::PhantomData;

use anabranch_plan::Node;
use anabranch_record::sync::Arc;

use super::Stream;
use crate::engine::{Base, ErrorSlot, Tail};
use crate::mode::{Fallible, May, Mode, Sure};
use crate::serial::Each;
use crate::shape::{Shape, Single};
use crate::unit::{Apply, Identity};

/// A stream of items `T` that cannot fail, whatever its source and its stages are.
///
/// [`Stream::boxed`] makes it. The streams that sources and serial stages return have this type already. A
/// boxed stream can be kept in a struct field, returned from a function, built in an `if` and put into a
/// `Vec`. It has all methods of [`Stream`].
///
/// Parallel stages before and behind the box are still one unit of the plan: a worker carries several items
/// through the stages before it, and then through those behind it. A box therefore costs one indirect call
/// for several items.
///
/// ```
/// use anabranch::{BoxStream, Stream};
///
/// struct Job<'a> {
///     name: &'a str,
///     numbers: BoxStream<'a, u64>,
/// }
///
/// fn numbers<'a>(squared: bool) -> BoxStream<'a, u64> {
///     let numbers = Stream::from_iter(1..=3u64);
///     if squared { numbers.map(|n| n * n).boxed() } else { numbers.boxed() }
/// }
///
/// let jobs = [("plain", false), ("squared", true)];
/// let jobs: Vec<Job<'_>> = jobs.map(|(name, squared)| Job { name, numbers: numbers(squared) }).into();
/// let sums = jobs.into_iter().map(|job| (job.name, job.numbers.map(|n| n + 1).sum::<u64>()));
/// assert_eq!(sums.collect::<Vec<_>>(), [("plain", 9), ("squared", 17)]);
/// ```
pub type BoxStream<'env, T> = Stream<'env, Identity<T, Single>, Sure>;

/// A stream of items `T` that may fail with `E`, whatever its source and its stages are: see [`BoxStream`].
///
/// ```
/// use std::io::{self, BufRead};
/// use anabranch::{Stream, TryBoxStream};
///
/// fn lengths(input: impl BufRead + Send + 'static) -> TryBoxStream<'static, usize, io::Error> {
///     Stream::try_from_iter(input.lines()).map(|line: String| line.len()).boxed()
/// }
///
/// let longest = lengths(&b"one\nthree\n"[..]).fold(0, usize::max)?;
/// assert_eq!(longest, 5);
/// # Ok::<(), io::Error>(())
/// ```
pub type TryBoxStream<'env, T, E> = Stream<'env, Identity<T, Single>, May<E>>;

impl<'env, U, M> Stream<'env, U, M>
where
    U: Apply<M::Error> + Send + 'env,
    U::Out: 'env,
    M: Mode,
    M::Error: Send + 'env,
{
    /// Turns the stream into a [`BoxStream`], or into a [`TryBoxStream`] if it may fail.
    ///
    /// After a [`flat_map`](Self::flat_map), or if the source [never waits](Self::never_waits), the items become single items, as
    /// after [`spread`](Self::spread).
    pub fn boxed(self) -> Stream<'env, Identity<U::Out, Single>, M> {
        if U::To::BATCHED {
            return self.spread();
        }
        let Stream { tail, draft, .. } = self.erased();
        let Base { upstream, errors, from, .. } = *tail.base;
        let upstream = <U::To as Shape>::single(upstream).expect("an index has one item");
        Stream { tail: Tail::behind(upstream, errors, from), draft, mode: PhantomData }
    }

    /// Turns the stream's error into another one with `f`, which is called at most once, when the stream has
    /// ended. Later calls fail with the new error. In their closures, `?` converts other errors into it by `From`.
    ///
    /// ```
    /// use std::{io, num::ParseIntError};
    /// use anabranch::Stream;
    ///
    /// #[derive(Debug)]
    /// enum Trouble {
    ///     Input(io::Error),
    ///     Number(ParseIntError),
    /// }
    ///
    /// impl From<ParseIntError> for Trouble {
    ///     fn from(error: ParseIntError) -> Self {
    ///         Trouble::Number(error)
    ///     }
    /// }
    ///
    /// let lines = ["1", "2", "x"].map(|line| Ok::<_, io::Error>(line.to_owned()));
    /// let sum = Stream::try_from_iter(lines)
    ///     .map_err(Trouble::Input)
    ///     .try_map(|line| Ok(line.parse::<u64>()?)) // a ParseIntError becomes a Trouble
    ///     .sum::<u64>();
    /// assert!(matches!(sum, Err(Trouble::Number(_))));
    /// ```
    pub fn map_err<E, F>(self, f: F) -> Stream<'env, Identity<U::Out, U::To>, M::With<E>>
    where
        M: Fallible,
        E: Send + 'env,
        F: FnOnce(M::Error) -> E + Send + 'env,
    {
        let Stream { tail, mut draft, .. } = self.erased();
        let errors = Arc::<ErrorSlot<E>>::default();
        let (before, behind) = (Arc::clone(&tail.base.errors), Arc::clone(&errors));
        draft.attached.handovers.push(Box::new(move || before.hand_over(&behind, f)));
        let tail = Tail::behind(tail.base.upstream, errors, tail.base.from);
        Stream { tail, draft, mode: PhantomData }
    }

    /// The same stream with the code of its open unit behind a trait object. Stages that are added continue
    /// the unit.
    pub(super) fn erased(self) -> Stream<'env, Identity<U::Out, U::To>, M> {
        if self.tail.base.shard.is_some() {
            // Its items go on by themselves, and not in claims.
            return self.stage(Node::serial("boxed"), Each(|item| item));
        }
        let Stream { tail, draft, .. } = self;
        let errors = Arc::clone(&tail.base.errors);
        let (before, behind) = (tail.base.from, draft.outline.plan.nodes.len());
        let tail = if U::DOES_NOTHING {
            Tail::behind(U::only_upstream(tail.base.upstream), errors, before)
        } else {
            Tail::behind(Box::new(tail), errors, behind)
        };
        Stream { tail, draft, mode: PhantomData }
    }
}

/// A stream that cannot fail as one that may: for the other branch of an `if`.
impl<'env, T: Send + 'env, E: Send + 'env> From<BoxStream<'env, T>> for TryBoxStream<'env, T, E> {
    fn from(stream: BoxStream<'env, T>) -> Self {
        stream.admit::<E>()
    }
}
