//! Modes: they decide the type that a stream's end returns.

use std::convert::Infallible;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use super::attached::Handover;
use crate::engine::ErrorSlot;

/// The type that a stream's end returns: a plain value while no call can fail ([`Sure`]), and a `Result` from the first fallible
/// call on ([`May`]).
pub trait Mode {
    /// The error of the stream's fallible calls.
    type Error: Send;
    /// The return type of an end that makes a `T`.
    type Output<T>;
    /// Turns an outcome into what the end returns.
    #[doc(hidden)]
    fn output<T>(outcome: Result<T, Self::Error>) -> Self::Output<T>;
}

/// A mode in which calls that fail with `E` may follow.
///
/// In a stream that cannot fail so far they may fail with any error. In one that may fail their error must be convertible
/// into the stream's, as by the operator `?`.
#[diagnostic::on_unimplemented(
    message = "a call that fails with `{E}` cannot follow in this stream",
    label = "fails with `{E}`, which is not the stream's error",
    note = "to convert this error into the stream's by `From`, use `?` in the closure: `|item| Ok(call(item)?)`",
    note = "to change the stream's error, write `.map_err(..)` before this call: `.map_err(anyhow::Error::from)`",
    note = "`map_dependent` fails with `Unmet`: in a stream with an error of its own, write `try_map_dependent`, if the error is `From<Unmet>`"
)]
pub trait Admit<E>: Mode {
    /// The error of the stream from such a call on.
    type Failure: From<E> + Send;
    /// Returns the slot for errors of the new type, made from the slot so far.
    #[doc(hidden)]
    fn admit(errors: Arc<ErrorSlot<Self::Error>>) -> Arc<ErrorSlot<Self::Failure>>;
}

/// The mode of a stream none of whose calls can fail.
#[derive(Debug, Clone, Copy)]
pub struct Sure;

/// The mode of a stream whose calls may fail with `E`.
#[derive(Debug, Clone, Copy)]
pub struct May<E>(PhantomData<fn() -> E>);

impl Mode for Sure {
    type Error = Infallible;
    type Output<T> = T;

    fn output<T>(outcome: Result<T, Infallible>) -> T {
        match outcome {
            Ok(value) => value,
        }
    }
}

impl<E: Send> Mode for May<E> {
    type Error = E;
    type Output<T> = Result<T, E>;

    fn output<T>(outcome: Result<T, E>) -> Result<T, E> {
        outcome
    }
}

impl<E: Send> Admit<E> for Sure {
    type Failure = E;

    fn admit(_: Arc<ErrorSlot<Infallible>>) -> Arc<ErrorSlot<E>> {
        Arc::default()
    }
}

// The only implementation for a stream that can fail: so the compiler knows what `?` in a closure converts errors into.
impl<X: Send> Admit<X> for May<X> {
    type Failure = X;

    fn admit(errors: Arc<ErrorSlot<X>>) -> Arc<ErrorSlot<X>> {
        errors
    }
}

/// The mode of the branches of a fork together with one more branch, in mode `N`.
#[diagnostic::on_unimplemented(
    message = "the branches of one fork fail with different errors",
    note = "to change the error of a branch, end it with `.map_err(..)`"
)]
pub trait Blend<N: Mode>: Mode {
    /// Both modes in one: they may fail if one of them may.
    type Both: Mode;
    /// Returns the slot for the errors of both, and what hands the errors of one over to it once the run is over.
    #[doc(hidden)]
    fn blend<'env>(
        errors: Arc<ErrorSlot<Self::Error>>,
        others: Arc<ErrorSlot<N::Error>>,
    ) -> Blended<'env, <Self::Both as Mode>::Error>
    where
        Self::Error: 'env;
}

/// A slot for errors, and what hands other errors over to it.
pub(crate) type Blended<'env, E> = (Arc<ErrorSlot<E>>, Option<Handover<'env>>);

impl Blend<Sure> for Sure {
    type Both = Sure;

    fn blend<'env>(
        errors: Arc<ErrorSlot<Infallible>>,
        _: Arc<ErrorSlot<Infallible>>,
    ) -> Blended<'env, Infallible> {
        (errors, None)
    }
}

impl<E: Send> Blend<May<E>> for Sure {
    type Both = May<E>;

    fn blend<'env>(_: Arc<ErrorSlot<Infallible>>, others: Arc<ErrorSlot<E>>) -> Blended<'env, E> {
        (others, None)
    }
}

impl<E: Send> Blend<Sure> for May<E> {
    type Both = May<E>;

    fn blend<'env>(errors: Arc<ErrorSlot<E>>, _: Arc<ErrorSlot<Infallible>>) -> Blended<'env, E> {
        (errors, None)
    }
}

impl<E: Send> Blend<May<E>> for May<E> {
    type Both = May<E>;

    fn blend<'env>(errors: Arc<ErrorSlot<E>>, others: Arc<ErrorSlot<E>>) -> Blended<'env, E>
    where
        E: 'env,
    {
        if Arc::ptr_eq(&errors, &others) {
            return (errors, None);
        }
        let to = Arc::clone(&errors);
        (errors, Some(Box::new(move || others.hand_over(&to, |error| error))))
    }
}
