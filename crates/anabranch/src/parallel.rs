//! The code of parallel stages.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use crate::flow::{Flow, Halt};

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
