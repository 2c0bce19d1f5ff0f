//! The code of stages, as the engine calls it.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc;

use anabranch_record::sync;

use super::pull::Pulled;
use super::run::Run;

/// Whether the stream goes on, or stops at the current item.
pub type Flow<E> = ControlFlow<Halt<E>>;

/// The reason why a stage stops the stream at the current item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt<E> {
    /// The stage needs no more items. This is not a failure.
    Break,
    /// The item failed.
    Error(E),
}

/// The code of a parallel stage of a stream whose error is `E`. Workers call it for several items at once.
pub(crate) trait Parallel<T, E>: Send + Sync {
    /// The type of the items that the stage gives.
    type Out: Send;
    /// The state that each worker has for the stage.
    type Local;
    /// Whether an item may have several results.
    const GIVES_MANY: bool;

    /// Creates the state of a worker, on that worker's thread.
    fn local(&self) -> Self::Local;

    /// Processes one item, and gives its results by calls of `give`.
    fn call(&self, local: &mut Self::Local, item: T, give: &mut impl FnMut(Self::Out)) -> Flow<E>;
}

/// A parallel stage that gives at most one result for an item. `make` creates the state of a worker, and `call` returns the
/// result.
pub(crate) struct ParallelEach<N, F, X> {
    make: N,
    call: F,
    fails: PhantomData<fn() -> X>,
}

impl<N, F, X> ParallelEach<N, F, X> {
    pub(crate) fn new<T, U, L>(make: N, call: F) -> Self
    where
        N: Fn() -> L,
        F: Fn(&mut L, T) -> Result<Option<U>, X>,
    {
        Self { make, call, fails: PhantomData }
    }
}

impl<T, U, L, X, E, N, F> Parallel<T, E> for ParallelEach<N, F, X>
where
    U: Send,
    E: From<X>,
    N: Fn() -> L + Send + Sync,
    F: Fn(&mut L, T) -> Result<Option<U>, X> + Send + Sync,
{
    type Out = U;
    type Local = L;
    const GIVES_MANY: bool = false;

    #[inline]
    fn local(&self) -> L {
        (self.make)()
    }

    #[inline]
    fn call(&self, local: &mut L, item: T, give: &mut impl FnMut(U)) -> Flow<E> {
        match (self.call)(local, item) {
            Ok(Some(result)) => give(result),
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(Halt::Error(error.into())),
        }
        ControlFlow::Continue(())
    }
}

/// A parallel stage that gives any number of results for an item.
pub(crate) struct ParallelMany<F, X> {
    call: F,
    fails: PhantomData<fn() -> X>,
}

impl<F, X> ParallelMany<F, X> {
    pub(crate) fn new<T, U, I>(call: F) -> Self
    where
        I: IntoIterator<Item = Result<U, X>>,
        F: Fn(T) -> I,
    {
        Self { call, fails: PhantomData }
    }
}

impl<T, U, I, X, E, F> Parallel<T, E> for ParallelMany<F, X>
where
    U: Send,
    E: From<X>,
    I: IntoIterator<Item = Result<U, X>>,
    F: Fn(T) -> I + Send + Sync,
{
    type Out = U;
    type Local = ();
    const GIVES_MANY: bool = true;

    #[inline]
    fn local(&self) {}

    #[inline]
    fn call(&self, (): &mut (), item: T, give: &mut impl FnMut(U)) -> Flow<E> {
        for result in (self.call)(item) {
            match result {
                Ok(result) => give(result),
                Err(error) => return ControlFlow::Break(Halt::Error(error.into())),
            }
        }
        ControlFlow::Continue(())
    }
}

/// The code of a serial stage. It is called with one item at a time, in order.
pub(crate) trait Serial<T, E>: Send {
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
pub(crate) trait Spread<T, E>: Send {
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

    /// Tells the stage which run it is part of, and whether its results keep the order of its items. Called before the run.
    fn starts(&mut self, _run: &sync::Arc<Run>, _is_ordered: bool) {}

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
/// again. So only a thread that is no worker has to notify the event of the run.
pub(crate) trait Later: Send + Sync {
    /// Whether a result is ready.
    fn is_ready(&self) -> bool;

    /// Whether a result is ready or will be. While one is, the end of the stream does not pass the stage.
    fn is_waiting(&self) -> bool;

    /// Whether the stage may open another item, if `window` of its results may be in flight. If it may not, it may again once
    /// results have left the stage behind.
    fn has_room(&self, window: u64) -> bool;
}
