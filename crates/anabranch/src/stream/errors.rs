//! The errors of a stream.

use std::marker::PhantomData;

use anabranch_record::sync::Arc;

use super::{Stream, TryStream};
use crate::engine::ErrorSlot;

impl<'env, T: Send + 'env, X: Send + 'env> TryStream<'env, T, X> {
    /// Turns the stream's error into another one with `f`, which is called at most once, when the stream has
    /// ended. Later calls fail with the new error. In their closures, `?` converts other errors into it by `From`.
    ///
    /// ```
    /// use std::{io, num::ParseIntError};
    /// use anabranch::Stream;
    ///
    /// #[derive(Debug)]
    /// enum Trouble {
    ///     Input(io::Error),
    ///     Number(ParseIntError),
    /// }
    ///
    /// impl From<ParseIntError> for Trouble {
    ///     fn from(error: ParseIntError) -> Self {
    ///         Trouble::Number(error)
    ///     }
    /// }
    ///
    /// let lines = ["1", "2", "x"].map(|line| Ok::<_, io::Error>(line.to_owned()));
    /// let sum = Stream::try_from_iter(lines)
    ///     .map_err(Trouble::Input)
    ///     .try_map(|line| Ok(line.parse::<u64>()?)) // a ParseIntError becomes a Trouble
    ///     .sum::<u64>();
    /// assert!(matches!(sum, Err(Trouble::Number(_))));
    /// ```
    pub fn map_err<E, F>(self, f: F) -> TryStream<'env, T, E>
    where
        E: Send + 'env,
        F: FnOnce(X) -> E + Send + 'env,
    {
        let Stream { code, errors: before, mut draft, .. } = self;
        let errors = Arc::<ErrorSlot<E>>::default();
        let behind = Arc::clone(&errors);
        draft.attached.handovers.push(Box::new(move || before.hand_over(&behind, f)));
        Stream { code, errors, draft, mode: PhantomData }
    }
}

/// A stream that cannot fail as one that may: for the other branch of an `if`.
impl<'env, T: Send + 'env, E: Send + 'env> From<Stream<'env, T>> for TryStream<'env, T, E> {
    fn from(stream: Stream<'env, T>) -> Self {
        stream.admit::<E>()
    }
}
