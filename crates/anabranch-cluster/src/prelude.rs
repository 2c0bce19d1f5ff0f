//! Remote stages of streams: `use anabranch_cluster::prelude::*;`.

use anabranch::{May, Mode, Stream, Sure, TryStream};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Function, RemoteError};

/// A mode of streams in which a call that fails with `E` may follow, if `E` converts into the stream's error.
///
/// A stream that cannot fail so far fails with `E` itself. One that may fail with `X` needs `X: From<E>`.
#[diagnostic::on_unimplemented(
    message = "a call that fails with `{E}` cannot follow in this stream",
    note = "the stream's error must be `From<{E}>`: write the conversion, or change the error by `.map_err(..)` before this call"
)]
pub trait AdmitFrom<E>: Mode {
    /// The error that the stream has from the call on.
    type Failure: From<E> + Send;

    /// Returns the stream as one that may fail with this error.
    #[doc(hidden)]
    fn fallible<'env, T: Send + 'env>(stream: Stream<'env, T, Self>) -> TryStream<'env, T, Self::Failure>
    where
        Self: Sized,
        Self::Failure: 'env;
}

impl<E: Send> AdmitFrom<E> for Sure {
    type Failure = E;

    fn fallible<'env, T: Send + 'env>(stream: Stream<'env, T>) -> TryStream<'env, T, E>
    where
        E: 'env,
    {
        stream.into()
    }
}

impl<E, X: From<E> + Send> AdmitFrom<E> for May<X> {
    type Failure = X;

    fn fallible<'env, T: Send + 'env>(stream: TryStream<'env, T, X>) -> TryStream<'env, T, X>
    where
        X: 'env,
    {
        stream
    }
}

/// Stages whose function runs on a cluster.
pub trait MapRemote<'env, T, M: Mode> {
    /// Turns each item into what a function on the [`Cluster`](crate::Cluster) makes of it, in the order of the items.
    ///
    /// As many items are under way as the workers ask for, and never more than the [`window`](Stream::window). The stream ends
    /// with the failure of the first item that fails, in the order of the items.
    /// [`unordered`](Stream::unordered) directly behind it gives the results as they come.
    ///
    /// The [`Report`](anabranch::Report) of the stream says how long items waited, travelled and were computed, and has a line for
    /// each worker.
    ///
    /// The stream keeps an item until its result is there, so its window also bounds the memory of the program: it holds at most one
    /// window of items before this stage, one of items whose results are not there, and one of results after it. Set a window for
    /// items that own much memory.
    fn map_remote<U, E>(self, function: &Function<T, U, E>) -> TryStream<'env, U, M::Failure>
    where
        T: Serialize + DeserializeOwned,
        U: Serialize + DeserializeOwned + Send + 'static,
        E: Serialize + DeserializeOwned + Send + 'static,
        M: AdmitFrom<RemoteError<E>, Failure: 'env>;
}

impl<'env, T: Send + 'static, M: Mode<Error: 'env>> MapRemote<'env, T, M> for Stream<'env, T, M> {
    #[track_caller]
    fn map_remote<U, E>(self, function: &Function<T, U, E>) -> TryStream<'env, U, M::Failure>
    where
        T: Serialize + DeserializeOwned,
        U: Serialize + DeserializeOwned + Send + 'static,
        E: Serialize + DeserializeOwned + Send + 'static,
        M: AdmitFrom<RemoteError<E>, Failure: 'env>,
    {
        let function = function.clone();
        let mut stream = M::fallible(self);
        if let Some(before) = function.report() {
            let function = function.clone();
            let report = move || {
                function.report().map_or_else(String::new, |report| report.since(&before).to_string())
            };
            anabranch::remark(&mut stream, report);
        }
        let stored = function.skips();
        if stored == 0 {
            return stream.enumerate().try_map_async(usize::MAX, move |(number, item)| {
                let call = function.numbered(number as u64, item);
                async move { call.await.map_err(M::Failure::from) }
            });
        }
        // After the last item the source says so, since it may have fewer than were stored.
        let rest = stream.map(Some).chain([None]).enumerate().serial_filter_map(move |(number, item)| {
            let number = number as u64;
            (item.is_none() == (number < stored)).then_some((number, item))
        });
        rest.try_map_async(usize::MAX, move |(number, item)| {
            let call = item.map(|item| function.numbered(number, item));
            async move {
                let result = match call {
                    Some(call) => call.await,
                    None => Err(RemoteError::EndedEarly { items: number, stored }),
                };
                result.map_err(M::Failure::from)
            }
        })
    }
}
