//! Sources: the functions that create streams.

use std::marker::PhantomData;
use std::ops::Range;

use anabranch_plan::{Node, Placement};
use anabranch_record::sync::Arc;

use super::account::Joins;
use super::attached::Outside;
use super::draft::Draft;
use super::inner::adopt;
use super::{Stream, TryStream};
use crate::control::waiter::Waiter;
use crate::engine::nodes::pull::{FromIter, InBlocks, Pull, TryFromIter};
use crate::engine::{ErrorSlot, Feed, SourceUpstream, Supply, Upstream, Weigher};
use crate::stream::Mode;

/// An iterator that may be asked by one thread after another: any that is `Send`.
#[diagnostic::on_unimplemented(
    message = "the iterator `{Self}` cannot be the source of a stream, because it is not `Send`",
    label = "must stay on one thread, and a source is asked by one thread after another",
    note = "standard input: write `BufReader::new(std::io::stdin())` instead of `stdin().lock()`",
    note = "an `Rc` or a `RefCell` in the iterator: use an `Arc` or a `Mutex`"
)]
pub trait SendIterator: Iterator + Send {}

#[diagnostic::do_not_recommend]
impl<I: Iterator + Send> SendIterator for I {}

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Creates a stream of the items of an iterator.
    ///
    /// Only one thread at a time asks the iterator, but not always the same thread. The iterator is never
    /// asked for more items than the window has room for.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let lines = "down\nthe\nriver".lines(); // any iterator that is `Send`
    /// assert_eq!(Stream::from_iter(lines).map(str::len).collect::<Vec<_>>(), [4, 3, 5]);
    ///
    /// let mut left = 3;
    /// let countdown = std::iter::from_fn(|| (left > 0).then(|| { left -= 1; left })); // or a closure
    /// assert_eq!(Stream::from_iter(countdown).map(|n| n * 10).collect::<Vec<_>>(), [20, 10, 0]);
    /// ```
    #[allow(clippy::should_implement_trait)] // it needs a `Send` iterator, which the trait cannot ask for
    pub fn from_iter<I>(items: I) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: SendIterator + 'env,
    {
        let (items, inner) = adopt(items, Joins::Source, "from_iter");
        Self::pulled(FromIter(items), Node::source("from_iter"), None).fed_by_inner(inner)
    }
}

impl<'env, V: Sync> Stream<'env, &'env V> {
    /// Creates a stream of references to the items of a slice. The items travel in blocks, as after
    /// [`in_blocks`](crate::Source::in_blocks).
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = ["never", "odd", "or", "even"];
    /// let total: usize = Stream::from_slice(&words).map(|word| word.len()).sum();
    /// assert_eq!(total, 14);
    /// ```
    pub fn from_slice(items: &'env [V]) -> Self {
        Self::pulled_in_batches(
            InBlocks::new(FromIter(items.iter())),
            Node::source("from_slice").in_blocks(),
            None,
        )
    }
}

impl<'env> Stream<'env, u64> {
    /// Creates a stream of the numbers of a range. The numbers travel in blocks, as after
    /// [`in_blocks`](crate::Source::in_blocks).
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let squares: u64 = Stream::from_range(0..1_000).map(|n| n * n).sum();
    /// assert_eq!(squares, 332_833_500);
    /// ```
    pub fn from_range(numbers: Range<u64>) -> Self {
        Self::pulled_in_batches(
            InBlocks::new(FromIter(numbers)),
            Node::source("from_range").in_blocks(),
            None,
        )
    }
}

impl<'env, T: Send + 'env, E: Send + 'env> TryStream<'env, T, E> {
    /// Creates a stream of the items of an iterator over results. The first error ends the stream.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let lines = ["1", "2", "three", "4"].map(|line| line.parse::<i32>());
    /// let mut sum = 0;
    /// let result = Stream::try_from_iter(lines).map(|n| 2 * n).for_each(|n| sum += n);
    /// assert!(result.is_err());
    /// assert_eq!(sum, 6); // everything before the error was seen, nothing after it
    /// ```
    pub fn try_from_iter<I>(items: I) -> Self
    where
        I: IntoIterator<Item = Result<T, E>>,
        I::IntoIter: SendIterator + 'env,
    {
        let (items, inner) = adopt(items, Joins::Source, "try_from_iter");
        Self::pulled(TryFromIter(items), Node::source("try_from_iter").fallible(), None).fed_by_inner(inner)
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Gives the source a thread of its own, which waits for items from outside until `waiter` is notified. With a `feed`, a detached
    /// run does without this thread.
    pub(crate) fn woken_by(mut self, waiter: Waiter, feed: Option<std::sync::Arc<dyn Feed + 'env>>) -> Self {
        self.draft.attached.outside = Some(Outside { waiter, feed });
        self.draft.outline.last().placement = Placement::Dedicated;
        self
    }

    /// Creates a stream whose items come in batches.
    pub(crate) fn pulled_in_batches<P>(pull: P, node: Node, weigher: Option<Weigher<'env, T>>) -> Self
    where
        P: Pull<Item = T, Error = M::Error> + 'env,
    {
        Self::pulled(pull, node, weigher).giving_many()
    }

    /// Notes that an index may have several items.
    fn giving_many(mut self) -> Self {
        self.draft.outline.gives_many = true;
        self
    }

    /// Notes that other threads post the items of the source. Workers do not wait in such a source.
    pub(crate) fn fed(mut self, feed: std::sync::Arc<dyn Feed>) -> Self {
        self.draft.attached.feed = Some(feed);
        self
    }

    /// Notes that the source has accepted items before it gives them, which a run that drains does not lose.
    pub(crate) fn supplied(mut self, supply: std::sync::Arc<Supply>) -> Self {
        self.draft.attached.supply = Some(supply);
        self
    }

    pub(crate) fn pulled<P>(pull: P, node: Node, weigher: Option<Weigher<'env, T>>) -> Self
    where
        P: Pull<Item = T, Error = M::Error> + 'env,
    {
        let (most, errors) = (pull.upper(), Arc::default());
        let upstream = SourceUpstream { pull, errors: Arc::clone(&errors), id: 0, weigher };
        Self::begun(Box::new(upstream), errors, node, most)
    }

    /// A stream that has only the source `code`, which gives at most `most` items.
    fn begun(
        code: Box<dyn Upstream<T> + 'env>,
        errors: Arc<ErrorSlot<M::Error>>,
        node: Node,
        most: Option<usize>,
    ) -> Self {
        let mut draft = Box::new(Draft::new(node));
        draft.attached.most = most;
        Self { code, errors, draft, mode: PhantomData }
    }
}
