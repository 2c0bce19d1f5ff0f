//! Sources: the functions that create streams.

use std::marker::PhantomData;
use std::ops::Range;

use anabranch_plan::Node;
use anabranch_record::lane::Cell;
use anabranch_record::sync::Arc;

use super::account::Joins;
use super::attached::Outside;
use super::draft::Draft;
use super::inner::adopt;
use super::{Stream, TryStream};
use crate::control::waiter::Waiter;
use crate::engine::nodes::pull::{FromIter, InBlocks, Pull, Pulled, SourceEnd, TryFromIter};
use crate::engine::{Blocks, ErrorSlot, Feed, SourceUpstream, Upstream, Weigher};
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
        Self::pulled(FromIter(items), Node::source("from_iter")).fed_by_inner(inner)
    }
}

impl<'env, V: Sync> Stream<'env, &'env V> {
    /// Creates a stream of references to the items of a slice. The items travel in blocks, as after
    /// [`in_blocks`](Self::in_blocks).
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let words = ["never", "odd", "or", "even"];
    /// let total: usize = Stream::from_slice(&words).map(|word| word.len()).sum();
    /// assert_eq!(total, 14);
    /// ```
    pub fn from_slice(items: &'env [V]) -> Self {
        Self::pulled_in_blocks(FromIter(items.iter()), Node::source("from_slice"))
    }
}

impl<'env> Stream<'env, u64> {
    /// Creates a stream of the numbers of a range. The numbers travel in blocks, as after
    /// [`in_blocks`](Self::in_blocks).
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let squares: u64 = Stream::from_range(0..1_000).map(|n| n * n).sum();
    /// assert_eq!(squares, 332_833_500);
    /// ```
    pub fn from_range(numbers: Range<u64>) -> Self {
        Self::pulled_in_blocks(FromIter(numbers), Node::source("from_range"))
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
        Self::pulled(TryFromIter(items), Node::source("try_from_iter").fallible()).fed_by_inner(inner)
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Says that the source never waits for anything: each of its items is computed, or is in memory already. Items
    /// then travel in blocks, and a stage takes a block through its code in one loop. For items of less than a
    /// microsecond of work this is several times faster.
    ///
    /// Without it, an item is passed on before the source is asked for the next one. With it, the source may be asked
    /// for a block of items first. Nothing else changes: order, the first error, the [window](Self::window), and what
    /// is dropped are those of single items. A block has as many items as the slowest stage handles in 20 µs, at most
    /// 2,048, and at most a quarter of each worker's share of the window.
    ///
    /// Items travel one by one if somebody counts them on their way: with [`cancel_by`](Self::cancel_by),
    /// [`watch`](Self::watch) or [`window_bytes`](Self::window_bytes), and if a stage gives up their order.
    ///
    /// One worker takes the items of a block through a stage, one after another. So do not call this if calls of a stage wait
    /// for each other, for example at a barrier.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let squares = (1..=1_000u64).map(|n| n * n);
    /// assert_eq!(Stream::from_iter(squares).in_blocks().filter(|n| n % 2 == 1).count(), 500);
    /// ```
    ///
    /// # Panics
    /// If it is not called directly after the source.
    #[track_caller]
    pub fn in_blocks(self) -> Stream<'env, T, M> {
        let Self { code, errors: of_source, mut draft, mode } = self;
        let plan = &mut draft.outline.plan;
        let last = &plan.nodes[plan.nodes.len() - 1];
        assert!(
            plan.nodes.len() == 1,
            "in_blocks() follows `{}`: call it directly after the source",
            last.name
        );
        assert!(plan.settings.window_bytes.is_none(), "in_blocks() follows `window_bytes`: write it before");
        assert!(draft.attached.handovers.is_empty(), "in_blocks() follows `map_err`: write it before");
        assert!(draft.attached.outside.is_none(), "in_blocks() follows `{}`, which waits", last.name);
        plan.nodes[0].in_blocks = true;
        // From now on only the source uses the old slot.
        let errors: Arc<ErrorSlot<M::Error>> = Arc::default();
        let pull = InBlocks::new(Filled { blocks: code.in_blocks(), errors: of_source });
        let code = Box::new(SourceUpstream { pull, errors: Arc::clone(&errors), id: 0, weigher: None });
        Stream { code, errors, draft, mode }.giving_many()
    }
}

/// The code of a source behind a trait object, which is asked for many items at a time.
struct Filled<'env, T: Send, E> {
    blocks: Box<dyn Blocks<T> + 'env>,
    /// Only the source puts an error here.
    errors: Arc<ErrorSlot<E>>,
}

impl<T: Send, E: Send> Pull for Filled<'_, T, E> {
    type Item = T;
    type Error = E;

    fn pull(&mut self) -> Pulled<T, E> {
        let mut one = Vec::with_capacity(1);
        let end = self.fill(1, &mut one);
        match (one.pop(), end) {
            (Some(item), _) => Pulled::Item(item),
            (None, Some(SourceEnd::Failed(error))) => Pulled::Fail(error),
            (None, _) => Pulled::End,
        }
    }

    fn fill(&mut self, most: usize, block: &mut Vec<T>) -> Option<SourceEnd<E>> {
        Some(match self.blocks.fill(most, block)? {
            SourceEnd::Exhausted => SourceEnd::Exhausted,
            SourceEnd::Failed(()) => SourceEnd::Failed(self.errors.take().expect("the error of the source")),
        })
    }

    fn upper(&self) -> Option<usize> {
        self.blocks.upper()
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Limits the number of bytes between the source and the end, in addition to the number of items that
    /// [`window`](Self::window) limits.
    ///
    /// `weigh` is called when the source has given an item, and returns the number of bytes that the item
    /// stands for. While the items in flight stand for `bytes` or more, the source is not asked. So all items
    /// but the last one stand for less than `bytes` together, and a single item may be heavier than `bytes`.
    ///
    /// The limit ends at the first stage whose results have a window of their own, such as
    /// [`serial_flat_map`](Self::serial_flat_map), [`spread`](Self::spread), [`windows`](Self::windows), or a parallel stage
    /// after [`unordered`](Self::unordered). The [contract](crate::contract) lists them at C3. If the end is an iterator, the
    /// stream waits with each result until the iterator takes it. This is too slow for small items such as numbers.
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
    /// If `bytes` is 0, or it is not called directly after the source.
    #[track_caller]
    pub fn window_bytes<F>(mut self, bytes: u64, weigh: F) -> Self
    where
        F: Fn(&T) -> u64 + Send + 'env,
    {
        assert!(bytes > 0, "`window_bytes(0, ..)`: a window is 1 byte or more");
        let plan = &mut self.draft.outline.plan;
        assert!(
            plan.nodes.len() == 1,
            "window_bytes({bytes}) follows `{}`: it weighs what the source gives",
            plan.nodes[plan.nodes.len() - 1].name
        );
        plan.settings.window_bytes = Some(bytes);
        let limit = bytes.min(1 << 63);
        let weigh = Box::new(move |cell: &Cell<T>| cell.items().map(&weigh).fold(0, u64::saturating_add));
        let weigher = Weigher { limit, resume: limit, weigh };
        self.with_code(|source| source.weighed(weigher))
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Gives the source a thread of its own, which waits for items from outside until `waiter` is notified. With a `feed`, a detached
    /// run does without this thread.
    pub(crate) fn woken_by(mut self, waiter: Waiter, feed: Option<std::sync::Arc<dyn Feed + 'env>>) -> Self {
        self.draft.attached.outside = Some(Outside { waiter, feed });
        self.dedicated()
    }

    pub(crate) fn pulled<P>(pull: P, node: Node) -> Self
    where
        P: Pull<Item = T, Error = M::Error> + 'env,
    {
        Self::pulled_as(pull, node, None)
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
    /// Creates a stream whose items come in batches, which are weighed.
    pub(crate) fn pulled_in_batches<P>(pull: P, node: Node, weigher: Weigher<'env, T>) -> Self
    where
        P: Pull<Item = T, Error = M::Error> + 'env,
    {
        Self::pulled_as(pull, node, Some(weigher)).giving_many()
    }

    /// Creates a stream of the items of a source that never waits.
    fn pulled_in_blocks<P>(pull: P, node: Node) -> Self
    where
        P: Pull<Item = T, Error = M::Error> + 'env,
    {
        Self::pulled_as(InBlocks::new(pull), node.in_blocks(), None).giving_many()
    }
}

impl<'env, T: Send + 'env, M: Mode<Error: 'env>> Stream<'env, T, M> {
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

    fn pulled_as<P>(pull: P, node: Node, weigher: Option<Weigher<'env, T>>) -> Self
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
