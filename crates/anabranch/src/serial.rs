//! The code of serial stages and of sinks.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::flow::{Flow, Halt};
use crate::pull::Pulled;

/// The code of a serial stage. It is called with one item at a time, in order.
pub trait Serial<T, E>: Send {
    /// The type of the items that the stage gives.
    type Out: Send;

    /// Processes one item, and gives at most one result by a call of `give`.
    fn call(&mut self, item: T, give: &mut impl FnMut(Self::Out)) -> Flow<E>;

    /// Called at the end of the stream. Gives what the stage has kept.
    fn finish(&mut self, _give: &mut impl FnMut(Self::Out)) -> Flow<E> {
        ControlFlow::Continue(())
    }
}

/// A serial stage that gives at most one result for an item. The function returns the result, or why the stream stops.
pub(crate) struct SerialEach<F>(pub(crate) F);

impl<T, U: Send, E, F: FnMut(T) -> ControlFlow<Halt<E>, Option<U>> + Send> Serial<T, E> for SerialEach<F> {
    type Out = U;

    #[inline]
    fn call(&mut self, item: T, give: &mut impl FnMut(U)) -> Flow<E> {
        if let Some(result) = (self.0)(item)? {
            give(result);
        }
        ControlFlow::Continue(())
    }
}

/// A serial stage that passes on the first items, and ends the stream with the last of them.
pub(crate) struct Take {
    pub(crate) left: usize,
}

impl<T: Send, E> Serial<T, E> for Take {
    type Out = T;

    #[inline]
    fn call(&mut self, item: T, give: &mut impl FnMut(T)) -> Flow<E> {
        if self.left == 0 {
            return ControlFlow::Break(Halt::Break);
        }
        self.left -= 1;
        give(item);
        if self.left == 0 { ControlFlow::Break(Halt::Break) } else { ControlFlow::Continue(()) }
    }
}

/// A serial stage that gathers items into vectors of `size` items. The last vector may be shorter.
pub(crate) struct Batch<T> {
    pub(crate) size: usize,
    pub(crate) gathered: Vec<T>,
}

impl<T: Send, E> Serial<T, E> for Batch<T> {
    type Out = Vec<T>;

    #[inline]
    fn call(&mut self, item: T, give: &mut impl FnMut(Vec<T>)) -> Flow<E> {
        if self.gathered.capacity() == 0 {
            // A very large `size` may never be reached, so the memory for it is not reserved at once.
            self.gathered.reserve(self.size.min(1024));
        }
        self.gathered.push(item);
        if self.gathered.len() == self.size {
            give(std::mem::take(&mut self.gathered));
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self, give: &mut impl FnMut(Vec<T>)) -> Flow<E> {
        if !self.gathered.is_empty() {
            give(std::mem::take(&mut self.gathered));
        }
        ControlFlow::Continue(())
    }
}

/// The function of an end, as a serial stage that gives nothing.
pub(crate) struct Last<F, E>(pub(crate) F, pub(crate) PhantomData<fn() -> E>);

impl<T, E, F: FnMut(T) -> Flow<E> + Send> Serial<T, E> for Last<F, E> {
    type Out = Infallible;

    #[inline]
    fn call(&mut self, item: T, _: &mut impl FnMut(Infallible)) -> Flow<E> {
        (self.0)(item)
    }
}

/// The code of a spreading stage. It opens an item, and then gives the items that are in it one by one.
pub trait Spread<T, E>: Send {
    /// The items that it gives.
    type Out: Send;

    /// Opens an item. The item before is used up.
    fn open(&mut self, item: T);

    /// Returns the next result of the open item. May block.
    fn next(&mut self) -> Pulled<Self::Out, E>;

    /// Opens the last of `waiting`. A stage that only keeps its items may take several. Returns whether there may be results.
    #[inline]
    fn open_last(&mut self, waiting: &mut Vec<T>) -> bool {
        waiting.pop().map(|item| self.open(item)).is_some()
    }

    /// Sets how many items of the stream a result should have at most, for a stage that gathers items. Called before the
    /// run.
    fn limit(&mut self, _items: usize) {}

    /// Whether the stage keeps items which it gives when no others are ready.
    fn holds(&self) -> bool {
        false
    }

    /// No item is ready: opens the items that the stage keeps. Returns whether it keeps any.
    fn idle(&mut self) -> bool {
        false
    }

    /// The stream has ended: opens what the stage gives then. Returns whether it gives anything.
    fn end(&mut self) -> bool {
        false
    }

    /// The results that other stages make ready, for a stage that has such results.
    fn later<'s>(&self) -> Option<Arc<dyn Later + 's>>
    where
        Self: 's,
    {
        None
    }
}

/// Results of a [`Spread`] that stages behind it make ready, while any thread or none works on the stage itself. `next` gives
/// them as it gives the results of an item.
///
/// A worker that has made a result ready walks the line again before it sleeps, and each thread that lets go of the stage looks
/// again. So nobody has to be told of a result.
pub trait Later: Send + Sync {
    /// Whether a result is ready.
    fn is_ready(&self) -> bool;

    /// Whether a result is ready or will be. While one is, the end of the stream does not pass the stage.
    fn is_waiting(&self) -> bool;

    /// Whether the stage may open another item, if `window` of its results may be in flight. If it may not, it may again once
    /// results have left the stage behind.
    fn has_room(&self, window: u64) -> bool;
}

/// A spreading stage made of a function that returns an iterator for each item.
#[derive(Debug)]
pub struct SpreadEach<F, I> {
    pub(crate) call: F,
    pub(crate) open: Option<I>,
}

impl<T, E, J: IntoIterator<Item: Send>, F: FnMut(T) -> J + Send> Spread<T, E> for SpreadEach<F, J::IntoIter>
where
    J::IntoIter: Send,
{
    type Out = J::Item;

    fn open(&mut self, item: T) {
        self.open = Some((self.call)(item).into_iter());
    }

    #[inline]
    fn next(&mut self) -> Pulled<J::Item, E> {
        match self.open.as_mut().and_then(Iterator::next) {
            Some(item) => Pulled::Item(item),
            None => {
                self.open = None;
                Pulled::End
            }
        }
    }
}

/// A spreading stage made of a function that returns an iterator over results for each item.
#[derive(Debug)]
pub struct TrySpreadEach<F, I> {
    pub(crate) call: F,
    pub(crate) open: Option<I>,
}

impl<T, U: Send, X, E: From<X>, J: IntoIterator<Item = Result<U, X>>, F: FnMut(T) -> J + Send> Spread<T, E>
    for TrySpreadEach<F, J::IntoIter>
where
    J::IntoIter: Send,
{
    type Out = U;

    fn open(&mut self, item: T) {
        self.open = Some((self.call)(item).into_iter());
    }

    #[inline]
    fn next(&mut self) -> Pulled<U, E> {
        match self.open.as_mut().and_then(Iterator::next) {
            Some(Ok(item)) => Pulled::Item(item),
            Some(Err(error)) => Pulled::Fail(error.into()),
            None => {
                self.open = None;
                Pulled::End
            }
        }
    }
}

/// A spreading stage with a state of its own. Its function is called with the state and the open item until
/// it returns `None`.
pub(crate) struct SpreadWith<L, T, F> {
    pub(crate) state: L,
    pub(crate) open: Option<T>,
    pub(crate) call: F,
}

impl<L: Send, T: Send, U: Send, X, E: From<X>, F> Spread<T, E> for SpreadWith<L, T, F>
where
    F: FnMut(&mut L, &mut T) -> Result<Option<U>, X> + Send,
{
    type Out = U;

    fn open(&mut self, item: T) {
        self.open = Some(item);
    }

    #[inline]
    fn next(&mut self) -> Pulled<U, E> {
        let Self { state, open, call } = self;
        match open.as_mut().map(|item| call(state, item)) {
            Some(Ok(Some(item))) => Pulled::Item(item),
            Some(Err(error)) => Pulled::Fail(error.into()),
            Some(Ok(None)) | None => {
                self.open = None;
                Pulled::End
            }
        }
    }
}

/// A spreading stage that passes on each item as it is.
#[derive(Debug)]
pub struct SpreadOnly<T>(pub(crate) Option<T>);

impl<T: Send, E> Spread<T, E> for SpreadOnly<T> {
    type Out = T;

    fn open(&mut self, item: T) {
        self.0 = Some(item);
    }

    #[inline]
    fn next(&mut self) -> Pulled<T, E> {
        self.0.take().map_or(Pulled::End, Pulled::Item)
    }
}

/// A spreading stage that gathers the items that are ready.
#[derive(Debug)]
pub(crate) struct ReadyChunks<T> {
    /// The largest number of items in a chunk.
    pub(crate) most: usize,
    /// Whether the chunk is given, though it could have more items.
    pub(crate) gives: bool,
    pub(crate) items: Vec<T>,
}

impl<T: Send, E> Spread<T, E> for ReadyChunks<T> {
    type Out = Vec<T>;

    fn open(&mut self, item: T) {
        self.items.push(item);
    }

    #[inline]
    fn next(&mut self) -> Pulled<Vec<T>, E> {
        let gives = std::mem::take(&mut self.gives) || self.items.len() == self.most;
        if gives { Pulled::Item(std::mem::take(&mut self.items)) } else { Pulled::End }
    }

    fn holds(&self) -> bool {
        !self.items.is_empty()
    }

    fn idle(&mut self) -> bool {
        self.gives = !self.items.is_empty();
        self.gives
    }
}
