//! Modes: they decide the type that a stream's end returns.

use std::convert::Infallible;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

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
    /// Turns an outcome into what the end returns.
    #[doc(hidden)]
    fn output<T>(outcome: Result<T, Self::Error>, report: Option<Report>) -> Self::Output<T>;
    /// Whether a report was asked for.
    #[doc(hidden)]
    const REPORTS: bool;
}

/// A mode in which calls that fail with `E` may follow.
pub trait Admit<E: Send>: Mode {
    /// The mode from such a call on.
    type Then: Mode<Error = E>;
    /// Returns the slot for errors of the new type, made from the slot so far.
    #[doc(hidden)]
    fn admit(errors: Arc<ErrorSlot<Self::Error>>) -> Arc<ErrorSlot<E>>;
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
    const REPORTS: bool = false;

    fn output<T>(outcome: Result<T, E>, _: Option<Report>) -> Result<T, E> {
        outcome
    }
}

impl<M: Mode> Mode for Reported<M> {
    type Error = M::Error;
    type Output<T> = (M::Output<T>, Report);
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

impl<E: Send> Admit<E> for May<E> {
    type Then = May<E>;

    fn admit(errors: Arc<ErrorSlot<E>>) -> Arc<ErrorSlot<E>> {
        errors
    }
}

impl<E: Send, M: Admit<E>> Admit<E> for Reported<M> {
    type Then = Reported<M::Then>;

    fn admit(errors: Arc<ErrorSlot<M::Error>>) -> Arc<ErrorSlot<E>> {
        M::admit(errors)
    }
}
