//! Modes: they decide the type that a stream's end returns.

use std::convert::Infallible;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use super::attached::Handover;
use crate::engine::ErrorSlot;
use crate::report::Report;

/// The type that a stream's end returns. It is a plain value while no call can fail ([`Sure`]), a `Result`
/// from the first fallible call on ([`May`]), and a pair of this and a [`Report`] if a report was asked for
/// ([`Reported`]).
pub trait Mode {
    /// The error of the stream's fallible calls.
    type Error: Send;
    /// The return type of an end that makes a `T`.
    type Output<T>;
    /// The mode of the same stream whose end returns a [`Report`] too.
    type Reporting: Mode<Error = Self::Error>;
    /// Turns an outcome into what the end returns.
    #[doc(hidden)]
    fn output<T>(outcome: Result<T, Self::Error>, report: Option<Report>) -> Self::Output<T>;
    /// Whether a report was asked for.
    #[doc(hidden)]
    const REPORTS: bool;
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
    /// The mode from such a call on.
    type Then: Mode<Error: From<E>>;
    /// Returns the slot for errors of the new type, made from the slot so far.
    #[doc(hidden)]
    fn admit(errors: Arc<ErrorSlot<Self::Error>>) -> Arc<ErrorSlot<ErrorAfter<Self, E>>>;
}

/// The error of a stream in mode `M` after a call that may fail with `E`.
pub type ErrorAfter<M, E> = <<M as Admit<E>>::Then as Mode>::Error;

/// A mode in which calls may fail, so that there is an error that can be [mapped](crate::Stream::map_err).
#[diagnostic::on_unimplemented(
    message = "this stream cannot fail",
    label = "there is no error that could be mapped"
)]
pub trait Fallible: Mode {
    /// The mode whose error is `E`.
    type With<E: Send>: Mode<Error = E>;
}

/// The mode of a stream none of whose calls can fail.
#[derive(Debug, Clone, Copy)]
pub struct Sure;

/// The mode of a stream whose calls may fail with `E`.
#[derive(Debug, Clone, Copy)]
pub struct May<E>(PhantomData<fn() -> E>);

/// The mode of a stream whose end returns a [`Report`] together with its result in mode `M`.
#[derive(Debug, Clone, Copy)]
pub struct Reported<M>(PhantomData<fn() -> M>);

impl Mode for Sure {
    type Error = Infallible;
    type Output<T> = T;
    type Reporting = Reported<Sure>;
    const REPORTS: bool = false;

    fn output<T>(outcome: Result<T, Infallible>, _: Option<Report>) -> T {
        match outcome {
            Ok(value) => value,
        }
    }
}

impl<E: Send> Mode for May<E> {
    type Error = E;
    type Output<T> = Result<T, E>;
    type Reporting = Reported<May<E>>;
    const REPORTS: bool = false;

    fn output<T>(outcome: Result<T, E>, _: Option<Report>) -> Result<T, E> {
        outcome
    }
}

impl<M: Mode> Mode for Reported<M> {
    type Error = M::Error;
    type Output<T> = (M::Output<T>, Report);
    type Reporting = Self;
    const REPORTS: bool = true;

    fn output<T>(outcome: Result<T, M::Error>, report: Option<Report>) -> (M::Output<T>, Report) {
        let report = report.expect("a reported run makes a report");
        (M::output(outcome, None), report)
    }
}

impl<E: Send> Admit<E> for Sure {
    type Then = May<E>;

    fn admit(_: Arc<ErrorSlot<Infallible>>) -> Arc<ErrorSlot<E>> {
        Arc::default()
    }
}

// The only implementation for a stream that can fail: so the compiler knows what `?` in a closure converts errors into.
impl<X: Send> Admit<X> for May<X> {
    type Then = May<X>;

    fn admit(errors: Arc<ErrorSlot<X>>) -> Arc<ErrorSlot<X>> {
        errors
    }
}

#[diagnostic::do_not_recommend]
impl<E, M: Admit<E>> Admit<E> for Reported<M> {
    type Then = Reported<M::Then>;

    fn admit(errors: Arc<ErrorSlot<M::Error>>) -> Arc<ErrorSlot<ErrorAfter<M, E>>> {
        M::admit(errors)
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

/// A report that one branch asks for is that of the whole stream.
macro_rules! blend_reported {
    ($([$($bounds:tt)*] $one:ty, $other:ty: $first:ty, $second:ty;)*) => {$(
        impl<$($bounds)*> Blend<$other> for $one
        where
            $first: Blend<$second>,
        {
            type Both = Reported<<$first as Blend<$second>>::Both>;

            fn blend<'env>(
                errors: Arc<ErrorSlot<<$one as Mode>::Error>>,
                others: Arc<ErrorSlot<<$other as Mode>::Error>>,
            ) -> Blended<'env, <Self::Both as Mode>::Error>
            where
                <$one as Mode>::Error: 'env,
            {
                <$first as Blend<$second>>::blend(errors, others)
            }
        }
    )*};
}

blend_reported! {
    [M: Mode, N: Mode] Reported<M>, Reported<N>: M, N;
    [M: Mode] Reported<M>, Sure: M, Sure;
    [N: Mode] Sure, Reported<N>: Sure, N;
    [M: Mode, E: Send] Reported<M>, May<E>: M, May<E>;
    [N: Mode, E: Send] May<E>, Reported<N>: May<E>, N;
}

impl<X: Send> Fallible for May<X> {
    type With<E: Send> = May<E>;
}

impl<M: Fallible> Fallible for Reported<M> {
    type With<E: Send> = Reported<M::With<E>>;
}
