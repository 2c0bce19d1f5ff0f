//! A source with options.

use std::marker::PhantomData;
use std::time::Duration;

use anabranch_plan::{Node, Placement};

use super::account::Joins;
use super::inner::adopt;
use super::options::nanoseconds;
use super::sources::SendIterator;
use super::{May, Mode, Stream, Sure, TryStream};
use crate::engine::Weigher;
use crate::engine::nodes::pull::{FromIter, InBlocks, Pull, TryFromIter};

/// A source with options: what [`Stream::from_iter`] and [`Stream::try_from_iter`] take, and how it is read.
///
/// ```
/// use std::io::{self, BufRead};
/// use anabranch::Source;
///
/// fn lengths(input: impl BufRead + Send) -> io::Result<usize> {
///     Source::try_new(input.lines())
///         .named("read")
///         .dedicated() // a thread that only reads
///         .into_stream()
///         .map(|line: String| line.len())
///         .sum()
/// }
/// assert_eq!(lengths(&b"down\nriver\n"[..])?, 9);
/// # Ok::<(), io::Error>(())
/// ```
#[must_use = "a source does nothing before it is a stream"]
pub struct Source<'env, I, T: Send, M: Mode = Sure> {
    items: I,
    node: Node,
    window_bytes: Option<u64>,
    weigher: Option<Weigher<'env, T>>,
    mode: PhantomData<fn() -> M>,
}

impl<I, T: Send, M: Mode> std::fmt::Debug for Source<'_, I, T, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("node", &self.node).finish_non_exhaustive()
    }
}

impl<'env, I: IntoIterator<Item: Send + 'env>> Source<'env, I, I::Item> {
    /// Creates a source of the items of an iterator.
    pub fn new(items: I) -> Self {
        Self::of(items, Node::source("from_iter"))
    }

    /// Begins a stream with this source.
    pub fn into_stream(self) -> Stream<'env, I::Item>
    where
        I::IntoIter: SendIterator + 'env,
    {
        self.begin("from_iter", FromIter)
    }
}

impl<'env, T, E, I> Source<'env, I, T, May<E>>
where
    T: Send + 'env,
    E: Send + 'env,
    I: IntoIterator<Item = Result<T, E>>,
{
    /// Creates a source of the items of an iterator over results. The first error ends the stream.
    pub fn try_new(items: I) -> Self {
        Self::of(items, Node::source("try_from_iter").fallible())
    }

    /// Begins a stream with this source.
    pub fn into_stream(self) -> TryStream<'env, T, E>
    where
        I::IntoIter: SendIterator + 'env,
    {
        self.begin("try_from_iter", TryFromIter)
    }
}

/// A source that waits for items from outside, as a channel does.
pub struct Waits<'env, T: Send, M: Mode = Sure>(Begin<'env, T, M>);

impl<T: Send, M: Mode> std::fmt::Debug for Waits<'_, T, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waits").finish_non_exhaustive()
    }
}

/// Begins a stream.
type Begin<'env, T, M> = Box<dyn FnOnce(Node, Option<Weigher<'env, T>>) -> Stream<'env, T, M> + 'env>;

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Source<'env, Waits<'env, T, M>, T, M> {
    pub(crate) fn waiting(
        node: Node,
        begin: impl FnOnce(Node, Option<Weigher<'env, T>>) -> Stream<'env, T, M> + 'env,
    ) -> Self {
        Self::of(Waits(Box::new(begin)), node)
    }

    /// Begins a stream with this source.
    pub fn into_stream(self) -> Stream<'env, T, M> {
        let mut stream = (self.items.0)(self.node, self.weigher);
        stream.draft.outline.plan.settings.window_bytes = self.window_bytes;
        stream
    }
}

impl<'env, I, T: Send + 'env, M: Mode<Error: 'env>> Source<'env, I, T, M> {
    fn of(items: I, node: Node) -> Self {
        Self { items, node, window_bytes: None, weigher: None, mode: PhantomData }
    }
}

impl<'env, I: IntoIterator, T: Send + 'env, M: Mode<Error: 'env>> Source<'env, I, T, M> {
    fn begin<P>(self, call: &'static str, pull: impl FnOnce(I::IntoIter) -> P) -> Stream<'env, T, M>
    where
        P: Pull<Item = T, Error = M::Error> + 'env,
    {
        let Self { items, node, window_bytes, weigher, .. } = self;
        let (items, inner) = adopt(items, Joins::Source, call);
        let mut stream = if node.in_blocks {
            Stream::pulled_in_batches(InBlocks::new(pull(items)), node, weigher)
        } else {
            Stream::pulled(pull(items), node, weigher)
        };
        stream.draft.outline.plan.settings.window_bytes = window_bytes;
        stream.fed_by_inner(inner)
    }

    /// Gives the source a thread of its own, which does not count as a worker. Use it for a source that blocks.
    pub fn dedicated(mut self) -> Self {
        self.node.placement = Placement::Dedicated;
        self
    }

    /// Says that the source never waits for anything: each of its items is computed, or is in memory already. Items
    /// then travel in blocks, and a stage takes a block through its code in one loop. For items of less than a
    /// microsecond of work this is several times faster.
    ///
    /// Without it, an item is passed on before the source is asked for the next one. With it, the source may be asked
    /// for a block of items first. Nothing else changes: order, the first error, the [window](Stream::window), and what
    /// is dropped are those of single items. A block has as many items as the slowest stage handles in 20 µs, at most
    /// 2,048, and at most a quarter of each worker's share of the window.
    ///
    /// Items travel one by one if somebody counts them on their way: with [`cancel_by`](Stream::cancel_by),
    /// [`watch`](Stream::watch) or [`window_bytes`](Self::window_bytes), and if a stage gives up their order.
    ///
    /// One worker takes the items of a block through a stage, one after another. So do not call this if calls of a stage wait
    /// for each other, for example at a barrier.
    ///
    /// ```
    /// use anabranch::Source;
    ///
    /// let squares = (1..=1_000u64).map(|n| n * n);
    /// assert_eq!(Source::new(squares).in_blocks().into_stream().filter(|n| n % 2 == 1).count(), 500);
    /// ```
    pub fn in_blocks(mut self) -> Self {
        self.node = self.node.in_blocks();
        self
    }
}

impl<'env, I, T: Send + 'env, M: Mode<Error: 'env>> Source<'env, I, T, M> {
    /// Names the source, for plans and reports.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.node.name = name.into().into();
        self
    }

    /// Sets the mean time that the source takes for an item. Predictions and [passes](Stream::passes) use it.
    pub fn cost(mut self, cost: Duration) -> Self {
        self.node.cost = Some(nanoseconds(cost));
        self
    }

    /// Limits the number of bytes between the source and the end, in addition to the number of items that
    /// [`window`](Stream::window) limits.
    ///
    /// `weigh` is called when the source has given an item, and returns the number of bytes that the item
    /// stands for. While the items in flight stand for `bytes` or more, the source is not asked. So all items
    /// but the last one stand for less than `bytes` together, and a single item may be heavier than `bytes`.
    ///
    /// The limit ends at the first stage whose results have a window of their own, such as
    /// [`serial_flat_map`](Stream::serial_flat_map), [`spread`](Stream::spread), [`windows`](Stream::windows), or a parallel stage
    /// after [`unordered`](Stream::unordered). The [contract](crate::contract) lists them at C3. If the end is an iterator, the
    /// stream waits with each result until the iterator takes it. This is too slow for small items such as numbers.
    ///
    /// ```
    /// use anabranch::Source;
    ///
    /// let files = (0..100).map(|n| vec![b'x'; 1 << (n % 20)]); // of very different sizes
    /// let total = Source::new(files)
    ///     .window_bytes(4 << 20, |file| file.len() as u64)
    ///     .into_stream()
    ///     .map(|file| file.len())
    ///     .fold(0, |sum, size| sum + size);
    /// assert_eq!(total, 5 * ((1 << 20) - 1));
    /// ```
    ///
    /// # Panics
    /// If `bytes` is 0.
    #[track_caller]
    pub fn window_bytes<F>(mut self, bytes: u64, weigh: F) -> Self
    where
        F: Fn(&T) -> u64 + Send + 'env,
    {
        self.weigher = Some(Weigher::of_items(bytes, weigh));
        self.window_bytes = Some(bytes);
        self
    }
}
