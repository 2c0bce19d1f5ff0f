//! The code of stages, as the engine calls it.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::Arc as StdArc;
use std::vec::Drain;

use anabranch_record::sync;

use super::pull::Pulled;
use crate::engine::state::run::Run;

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

/// The code of a stage of a stream whose error is `E`, for one thread at a time: a serial stage, or a worker's side of a parallel one.
///
/// A release build inlines it in the loop over the cells. A debug build calls it through a pointer, see `stages/stage.rs`.
pub(crate) trait Serial<T, E> {
    /// The type of the items that the stage gives.
    type Out: Send;

    /// Whether an item may have several results. Then [`many`](Self::many) is called, and [`one`](Self::one) is not.
    fn gives_many(&self) -> bool {
        false
    }

    /// Processes an item that has at most one result, and puts the result into `given`.
    fn one(&mut self, item: T, given: &mut Option<Self::Out>) -> Flow<E>;

    /// Processes an item, and adds its results to `given`.
    #[inline]
    fn many(&mut self, item: T, given: &mut Vec<Self::Out>) -> Flow<E> {
        let mut result = None;
        let flow = self.one(item, &mut result);
        if let Some(result) = result {
            given.push(result);
        }
        flow
    }

    /// Processes several items, and adds their results to `given`.
    #[inline]
    fn all(&mut self, items: &mut Drain<'_, T>, given: &mut Vec<Self::Out>) -> Flow<E> {
        items.try_for_each(|item| self.many(item, given))
    }

    /// The stream has ended: adds what the stage has kept to `given`.
    fn finish(&mut self, _given: &mut Vec<Self::Out>) -> Flow<E> {
        ControlFlow::Continue(())
    }
}

/// The code of a parallel stage. Each worker has a side of its own.
pub(crate) trait Parallel<T, E>: Send + Sync {
    /// A worker's side.
    type Side: Serial<T, E>;

    /// Creates a worker's side. Runs no code of the user: a state is created for the first item.
    fn side(&self) -> Self::Side;
}

/// A parallel stage that gives at most one result for an item. `make` creates the state of a worker, and `call` returns the
/// result.
pub(crate) struct ParallelEach<N, F, L, X> {
    code: StdArc<(N, F)>,
    types: PhantomData<fn() -> (L, X)>,
}

impl<N, F, L, X> ParallelEach<N, F, L, X> {
    pub(crate) fn new<T, U>(make: N, call: F) -> Self
    where
        N: Fn() -> L,
        F: Fn(&mut L, T) -> Result<Option<U>, X>,
    {
        Self { code: StdArc::new((make, call)), types: PhantomData }
    }
}

impl<T, U, L, X, E, N, F> Parallel<T, E> for ParallelEach<N, F, L, X>
where
    U: Send,
    E: From<X>,
    N: Fn() -> L + Send + Sync,
    F: Fn(&mut L, T) -> Result<Option<U>, X> + Send + Sync,
{
    type Side = EachSide<N, F, L, X>;

    fn side(&self) -> Self::Side {
        EachSide { code: StdArc::clone(&self.code), state: None, fails: PhantomData }
    }
}

/// A worker's side of a [`ParallelEach`].
pub(crate) struct EachSide<N, F, L, X> {
    code: StdArc<(N, F)>,
    /// Created for the first item.
    state: Option<L>,
    fails: PhantomData<fn() -> X>,
}

impl<T, U, L, X, E, N, F> Serial<T, E> for EachSide<N, F, L, X>
where
    U: Send,
    E: From<X>,
    N: Fn() -> L,
    F: Fn(&mut L, T) -> Result<Option<U>, X>,
{
    type Out = U;

    #[inline]
    fn one(&mut self, item: T, given: &mut Option<U>) -> Flow<E> {
        let (make, call) = &*self.code;
        match call(self.state.get_or_insert_with(make), item) {
            Ok(result) => *given = result,
            Err(error) => return ControlFlow::Break(Halt::Error(error.into())),
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn all(&mut self, items: &mut Drain<'_, T>, given: &mut Vec<U>) -> Flow<E> {
        // The function and the state are looked up once.
        let (make, call) = &*self.code;
        let state = self.state.get_or_insert_with(make);
        for item in items {
            match call(state, item) {
                Ok(Some(result)) => given.push(result),
                Ok(None) => {}
                Err(error) => return ControlFlow::Break(Halt::Error(error.into())),
            }
        }
        ControlFlow::Continue(())
    }
}

/// A parallel stage that gives any number of results for an item, and a worker's side of it.
pub(crate) struct ParallelMany<F, X> {
    call: StdArc<F>,
    fails: PhantomData<fn() -> X>,
}

impl<F, X> ParallelMany<F, X> {
    pub(crate) fn new<T, U, I>(call: F) -> Self
    where
        I: IntoIterator<Item = Result<U, X>>,
        F: Fn(T) -> I,
    {
        Self { call: StdArc::new(call), fails: PhantomData }
    }
}

impl<T, U, I, X, E, F> Parallel<T, E> for ParallelMany<F, X>
where
    U: Send,
    E: From<X>,
    I: IntoIterator<Item = Result<U, X>>,
    F: Fn(T) -> I + Send + Sync,
{
    type Side = Self;

    fn side(&self) -> Self {
        Self { call: StdArc::clone(&self.call), fails: PhantomData }
    }
}

impl<T, U, I, X, E, F> Serial<T, E> for ParallelMany<F, X>
where
    U: Send,
    E: From<X>,
    I: IntoIterator<Item = Result<U, X>>,
    F: Fn(T) -> I,
{
    type Out = U;

    fn gives_many(&self) -> bool {
        true
    }

    fn one(&mut self, _: T, _: &mut Option<U>) -> Flow<E> {
        unreachable!("an item may have several results")
    }

    #[inline]
    fn many(&mut self, item: T, given: &mut Vec<U>) -> Flow<E> {
        for result in (self.call)(item) {
            match result {
                Ok(result) => given.push(result),
                Err(error) => return ControlFlow::Break(Halt::Error(error.into())),
            }
        }
        ControlFlow::Continue(())
    }
}

/// A serial stage that gives at most one result for an item. The function returns the result, or why the stream stops.
pub(crate) struct SerialEach<F>(pub(crate) F);

impl<T, U: Send, E, F: FnMut(T) -> ControlFlow<Halt<E>, Option<U>>> Serial<T, E> for SerialEach<F> {
    type Out = U;

    #[inline]
    fn one(&mut self, item: T, given: &mut Option<U>) -> Flow<E> {
        *given = (self.0)(item)?;
        ControlFlow::Continue(())
    }
}

/// The function of an end, as a serial stage that gives nothing.
pub(crate) struct Last<F, E>(pub(crate) F, pub(crate) PhantomData<fn() -> E>);

impl<T, E, F: FnMut(T) -> Flow<E>> Serial<T, E> for Last<F, E> {
    type Out = Infallible;

    #[inline]
    fn one(&mut self, item: T, _: &mut Option<Infallible>) -> Flow<E> {
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
    fn later<'s>(&self) -> Option<StdArc<dyn Later + 's>>
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
