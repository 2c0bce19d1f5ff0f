//! Sources: where items come from.

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

impl<'env, T: Send + 'env> Stream<'env, Identity<T, Single>> {
    /// A stream of what an iterator gives.
    ///
    /// The iterator is asked from one thread at a time, not always the same, and never for more than the
    /// window has room for.
    #[allow(clippy::should_implement_trait)] // it needs a `Send` iterator, which the trait cannot ask for
    pub fn from_iter<I>(items: I) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'env,
    {
        Self::pulled(FromIter(items.into_iter()), Node::source("from_iter"))
    }

    /// A stream of what is posted from outside, from any thread. It ends when every [`Post`] is dropped, or when one of them
    /// is [closed](Post::close).
    ///
    /// Up to `capacity` items wait before the source; with 0, each is handed over in person. The items in the stream are
    /// bounded by the [window](Self::window) and not by `capacity`. The source has a thread of its own, so that workers do
    /// not wait for items. When the stream stops early, whether anything is posted or not, posting fails.
    /// [`CancelToken`](crate::CancelToken) has a recipe for a graceful shutdown.
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

    /// A stream of what a closure gives, until it gives `None`.
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
    /// A stream of references to the items of a slice.
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
    /// A stream of what an iterator over results gives: the first error ends it.
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
        I::IntoIter: Send + 'env,
    {
        Self::pulled(TryFromIter(items.into_iter()), Node::source("try_from_iter").fallible())
    }

    /// A stream of what a closure gives, until it gives `Ok(None)` or fails.
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
    /// Bounds what is in flight by weight too: while the items between source and end stand for `bytes` or more,
    /// by what `weigh` said when the source gave them, the source is not asked. So they stand for less than
    /// `bytes` and one item together, and an item of any weight passes. [`window`](Self::window) holds beside it.
    /// Where a stage gives a window of its own to what comes out of it ([`unordered`](Self::unordered),
    /// [`serial_flat_map`](Self::serial_flat_map), [`spread`](Self::spread)), this bound ends there. An iterator over the
    /// results is handed one at a time, as those that wait would weigh something: for blocks, not for numbers.
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

    /// The source waits for what comes from outside on a thread of its own, until this bell rings.
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
    /// A stream whose items come in batches, which are weighed.
    pub(crate) fn pulled_in_batches<P>(pull: P, node: Node, weigher: Weigher<'env, Vec<T>>) -> Self
    where
        P: Pull<Item = Vec<T>, Error = M::Error> + 'env,
    {
        Self::pulled_as(pull, node, Some(weigher))
    }
}

impl<'env, T: Send + 'env, S: Shape, M: Mode> Stream<'env, Identity<T, S>, M> {
    /// Says that the items of the source come from outside. Workers do not wait in such a source.
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
