//! Sources: the functions that create streams.

use std::marker::PhantomData;

use anabranch_plan::Node;
use anabranch_record::sync::Arc;

use super::Stream;
use super::draft::Draft;
use crate::bell::Bell;
use crate::channel::{Post, Posted, channel};
use crate::engine::{ErrorSlot, Feed, SourceUpstream, Tail, Weigher};
use crate::mode::{May, Mode};
use crate::serial::{FromIter, Pull, TryFromIter};
use crate::shape::{Batched, Shape, Single};
use crate::unit::Identity;

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

impl<'env, T: Send + 'env> Stream<'env, Identity<T, Single>> {
    /// Creates a stream of the items of an iterator.
    ///
    /// Only one thread at a time asks the iterator, but not always the same thread. The iterator is never
    /// asked for more items than the window has room for.
    #[allow(clippy::should_implement_trait)] // it needs a `Send` iterator, which the trait cannot ask for
    pub fn from_iter<I>(items: I) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: SendIterator + 'env,
    {
        Self::pulled(FromIter(items.into_iter()), Node::source("from_iter"))
    }

    /// Creates a stream of the items that threads post. It ends when every [`Post`] is dropped, or when one
    /// of them is [closed](Post::close).
    ///
    /// Up to `capacity` items wait before the source. If `capacity` is 0, [`Post::post`] waits until the
    /// source takes the item. The items in the stream are bounded by the [window](Self::window), and not by
    /// `capacity`. The source has a thread of its own, so workers do not wait for items. The stream can stop
    /// early at any time, even while no item is posted. Posting fails afterwards.
    /// [`CancelToken`](crate::CancelToken) shows a graceful shutdown.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let (post, stream) = Stream::channel(16);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || {
    ///         for n in 0..100u32 {
    ///             post.post(n).unwrap();
    ///         }
    ///     }); // the post is dropped here: the stream ends
    ///     assert_eq!(stream.map(|n| n + 1).fold(0, |sum, n| sum + n), 5_050);
    /// });
    /// ```
    pub fn channel(capacity: usize) -> (Post<T>, Self) {
        let (post, posted) = channel(capacity);
        (post, Self::posted(posted))
    }

    pub(crate) fn posted(posted: Posted<T>) -> Self {
        let (bell, supply) = (posted.bell().clone(), std::sync::Arc::clone(posted.supply()));
        let mut stream = Self::pulled(posted, Node::source("channel")).rung_by(&bell);
        stream.draft.attached.supply = Some(supply);
        stream
    }

    /// Creates a stream of the items that a closure returns, until it returns `None`.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut left = 3;
    /// let countdown = Stream::from_fn(|| (left > 0).then(|| { left -= 1; left }));
    /// assert_eq!(countdown.map(|n| n * 10).collect::<Vec<_>>(), [20, 10, 0]);
    /// ```
    pub fn from_fn<F: FnMut() -> Option<T> + Send + 'env>(next: F) -> Self {
        Self::pulled(FromIter(std::iter::from_fn(next)), Node::source("from_fn"))
    }
}

impl<'env, V: Sync> Stream<'env, Identity<&'env V, Single>> {
    /// Creates a stream of references to the items of a slice.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = ["never", "odd", "or", "even"];
    /// let total: usize = Stream::from_slice(&words).map(|word| word.len()).sum();
    /// assert_eq!(total, 14);
    /// ```
    pub fn from_slice(items: &'env [V]) -> Self {
        Self::pulled(FromIter(items.iter()), Node::source("from_slice"))
    }
}

impl<'env, T: Send + 'env, E: Send + 'env> Stream<'env, Identity<T, Single>, May<E>> {
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
        Self::pulled(TryFromIter(items.into_iter()), Node::source("try_from_iter").fallible())
    }

    /// Creates a stream of the items that a closure returns, until it returns `Ok(None)` or an error.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let mut lines = ["1", "2", "three", "4"].iter();
    /// let numbers = Stream::try_from_fn(|| lines.next().map(|line| line.parse::<i32>()).transpose());
    /// assert!(numbers.collect::<Vec<_>>().is_err());
    /// ```
    pub fn try_from_fn<F>(mut next: F) -> Self
    where
        F: FnMut() -> Result<Option<T>, E> + Send + 'env,
    {
        let items = std::iter::from_fn(move || next().transpose());
        Self::pulled(TryFromIter(items), Node::source("try_from_fn").fallible())
    }
}

impl<'env, T: Send + 'env, M: Mode> Stream<'env, Identity<T, Single>, M> {
    /// Limits the number of bytes between the source and the end, in addition to the number of items that
    /// [`window`](Self::window) limits.
    ///
    /// `weigh` is called when the source has given an item, and returns the number of bytes that the item
    /// stands for. While the items in flight stand for `bytes` or more, the source is not asked. So all items
    /// but the last one stand for less than `bytes` together, and a single item may be heavier than `bytes`.
    ///
    /// The limit ends at a stage whose results have a window of their own:
    /// [`serial_flat_map`](Self::serial_flat_map), [`spread`](Self::spread), and parallel stages after
    /// [`unordered`](Self::unordered). If the end is an iterator, the stream waits with each result until the
    /// iterator takes it. This is too slow for small items such as numbers.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let files = (0..100).map(|n| vec![b'x'; 1 << (n % 20)]); // of very different sizes
    /// let total = Stream::from_iter(files)
    ///     .window_bytes(4 << 20, |file| file.len() as u64)
    ///     .map(|file| file.len())
    ///     .fold(0, |sum, size| sum + size);
    /// assert_eq!(total, 5 * ((1 << 20) - 1));
    /// ```
    ///
    /// # Panics
    /// If `bytes` is 0, or it does not follow the source.
    #[track_caller]
    pub fn window_bytes<F>(mut self, bytes: u64, weigh: F) -> Self
    where
        F: Fn(&T) -> u64 + Send + 'env,
    {
        assert!(bytes > 0, "a window is 1 byte or more, not 0");
        let plan = &mut self.draft.outline.plan;
        assert!(
            plan.nodes.len() == 1,
            "window_bytes({bytes}) follows `{}`: it weighs what the source gives",
            plan.nodes[plan.nodes.len() - 1].name
        );
        plan.settings.window_bytes = Some(bytes);
        let limit = bytes.min(1 << 63);
        let weigher = Weigher { limit, resume: limit, weigh: Box::new(weigh) };
        self.tail.upstream = self.tail.upstream.weighed(weigher);
        self
    }

    /// Gives the source a thread of its own, which waits for items from outside until `bell` rings.
    pub(super) fn rung_by(mut self, bell: &Bell) -> Self {
        self.draft.attached.outside = Some(Arc::clone(&bell.event));
        self.cancel(&bell.run).dedicated()
    }

    pub(crate) fn pulled<P>(pull: P, node: Node) -> Self
    where
        P: Pull<Item = T, Error = M::Error> + 'env,
    {
        Self::pulled_as(pull, node, None)
    }
}

impl<'env, T: Send + 'env, M: Mode> Stream<'env, Identity<T, Batched>, M> {
    /// Creates a stream whose items come in batches, which are weighed.
    pub(crate) fn pulled_in_batches<P>(pull: P, node: Node, weigher: Weigher<'env, Vec<T>>) -> Self
    where
        P: Pull<Item = Vec<T>, Error = M::Error> + 'env,
    {
        Self::pulled_as(pull, node, Some(weigher))
    }
}

impl<'env, T: Send + 'env, S: Shape, M: Mode> Stream<'env, Identity<T, S>, M> {
    /// Notes that other threads post the items of the source. Workers do not wait in such a source.
    pub(crate) fn fed(mut self, feed: std::sync::Arc<dyn Feed>) -> Self {
        self.draft.attached.feed = Some(feed);
        self
    }

    fn pulled_as<P>(pull: P, node: Node, weigher: Option<Weigher<'env, S::Slot<T>>>) -> Self
    where
        P: Pull<Item = S::Slot<T>, Error = M::Error> + 'env,
    {
        let mut draft = Box::new(Draft::new(node));
        draft.attached.most = pull.upper();
        let errors: Arc<ErrorSlot<M::Error>> = Arc::default();
        let upstream = Box::new(SourceUpstream { pull, errors: Arc::clone(&errors), id: 0, weigher });
        Self { tail: Tail::open(upstream, errors), draft, mode: PhantomData }
    }
}
