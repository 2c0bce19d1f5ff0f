//! The code of sources.

use std::any::Any;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use anabranch_record::lane::Cell;

use crate::engine::state::failure::Kept;

/// The answer of a source that is asked for its next item.
#[derive(Debug)]
pub enum Pulled<T, E> {
    /// The next item.
    Item(T),
    /// The source is exhausted.
    End,
    /// The item failed.
    Fail(E),
}

/// How a source ended.
#[derive(Debug)]
pub enum SourceEnd<E> {
    /// It is exhausted.
    Exhausted,
    /// An item failed.
    Failed(E),
}

/// The code of a source. One thread at a time asks it for items.
pub trait Pull: Send {
    /// The type of the items.
    type Item: Send;
    /// The type of the errors.
    type Error: Send;

    /// Whether a cell may have several items. Then [`pull_cell`](Self::pull_cell) is called, and [`pull`](Self::pull) is not.
    const IN_BATCHES: bool = Self::IN_BLOCKS;
    /// Whether the source gives blocks of items. Then [`limit`](Self::limit) is called before each
    /// [`pull_cell`](Self::pull_cell).
    const IN_BLOCKS: bool = false;

    /// Returns the next item. May block.
    fn pull(&mut self) -> Pulled<Self::Item, Self::Error>;

    /// Returns the next item, or `None` if there is none at this moment. Only the source of a detached run says so, which
    /// must not wait: see [`Feed`](crate::engine::state::gate::Feed).
    #[inline]
    fn try_pull(&mut self) -> Option<Pulled<Self::Item, Self::Error>> {
        Some(self.pull())
    }

    /// Returns the next item, or the next block of items.
    #[inline]
    fn pull_cell(&mut self) -> Pulled<Cell<Self::Item>, Self::Error> {
        match self.pull() {
            Pulled::Item(item) => Pulled::Item(Cell::Value(item)),
            Pulled::End => Pulled::End,
            Pulled::Fail(error) => Pulled::Fail(error),
        }
    }

    /// As [`pull_cell`](Self::pull_cell), or `None` if there is no item at this moment: see [`try_pull`](Self::try_pull).
    #[inline]
    fn try_pull_cell(&mut self) -> Option<Pulled<Cell<Self::Item>, Self::Error>> {
        if Self::IN_BATCHES {
            return Some(self.pull_cell());
        }
        Some(match self.try_pull()? {
            Pulled::Item(item) => Pulled::Item(Cell::Value(item)),
            Pulled::End => Pulled::End,
            Pulled::Fail(error) => Pulled::Fail(error),
        })
    }

    /// Sets how many items the next block has at most, which is 1 or more.
    fn limit(&mut self, _items: u64) {}

    /// Adds up to `most` items to `block`. Returns how the source ended, if it gave fewer.
    #[inline]
    fn fill(&mut self, most: usize, block: &mut Vec<Self::Item>) -> Option<SourceEnd<Self::Error>> {
        for _ in 0..most {
            match self.pull() {
                Pulled::Item(item) => block.push(item),
                Pulled::End => return Some(SourceEnd::Exhausted),
                Pulled::Fail(error) => return Some(SourceEnd::Failed(error)),
            }
        }
        None
    }

    /// The largest number of items that the source will give, if it is known. A short stream gets a short
    /// window.
    fn upper(&self) -> Option<usize>;
}

/// A source made of an iterator.
#[derive(Debug)]
pub struct FromIter<I>(pub(crate) I);

impl<I: Iterator<Item: Send> + Send> Pull for FromIter<I> {
    type Item = I::Item;
    type Error = Infallible;

    #[inline]
    fn pull(&mut self) -> Pulled<I::Item, Infallible> {
        match self.0.next() {
            Some(item) => Pulled::Item(item),
            None => Pulled::End,
        }
    }

    #[inline]
    fn fill(&mut self, most: usize, block: &mut Vec<I::Item>) -> Option<SourceEnd<Infallible>> {
        let before = block.len();
        // Quicker than one call of `next` after another, where the iterator knows its length.
        block.extend(self.0.by_ref().take(most));
        (block.len() - before < most).then_some(SourceEnd::Exhausted)
    }

    fn upper(&self) -> Option<usize> {
        self.0.size_hint().1
    }
}

/// A source made of an iterator over results.
#[derive(Debug)]
pub struct TryFromIter<I>(pub(crate) I);

impl<T: Send, E: Send, I: Iterator<Item = Result<T, E>> + Send> Pull for TryFromIter<I> {
    type Item = T;
    type Error = E;

    #[inline]
    fn pull(&mut self) -> Pulled<T, E> {
        match self.0.next() {
            Some(Ok(item)) => Pulled::Item(item),
            Some(Err(error)) => Pulled::Fail(error),
            None => Pulled::End,
        }
    }

    fn upper(&self) -> Option<usize> {
        self.0.size_hint().1
    }
}

/// The code of a source that never waits. It gives its items in blocks.
pub struct InBlocks<P: Pull> {
    pull: P,
    /// The number of items in the next block.
    most: usize,
    /// The reason why the source ended behind the items of the last block.
    end: Option<Kept<BlockEnd<P::Error>>>,
}

/// The reason why a source ended in the middle of a block. The items before it go first.
enum BlockEnd<E> {
    Source(SourceEnd<E>),
    Panic(Box<dyn Any + Send>),
}

impl<P: Pull> InBlocks<P> {
    pub(crate) fn new(pull: P) -> Self {
        Self { pull, most: 1, end: None }
    }
}

impl<P: Pull> Pull for InBlocks<P> {
    type Item = P::Item;
    type Error = P::Error;
    const IN_BLOCKS: bool = true;

    fn pull(&mut self) -> Pulled<P::Item, P::Error> {
        unreachable!("a source in blocks is asked for cells")
    }

    fn pull_cell(&mut self) -> Pulled<Cell<P::Item>, P::Error> {
        let Self { pull, most, end } = self;
        if end.is_none() {
            let upper = pull.upper().unwrap_or(usize::MAX);
            let mut block = Vec::with_capacity(upper.min(*most));
            let filled = catch_unwind(AssertUnwindSafe(|| pull.fill(*most, &mut block)));
            let found =
                filled.map_or_else(|payload| Some(BlockEnd::Panic(payload)), |end| end.map(BlockEnd::Source));
            *end = found.map(Kept::new);
            if !block.is_empty() {
                return Pulled::Item(Cell::of(block, None));
            }
        }
        match end.take().map(Kept::into_inner) {
            Some(BlockEnd::Source(SourceEnd::Failed(error))) => Pulled::Fail(error),
            Some(BlockEnd::Panic(payload)) => resume_unwind(payload),
            Some(BlockEnd::Source(SourceEnd::Exhausted)) | None => Pulled::End,
        }
    }

    fn limit(&mut self, items: u64) {
        self.most = usize::try_from(items).unwrap_or(usize::MAX);
    }

    fn upper(&self) -> Option<usize> {
        self.pull.upper()
    }
}
