//! Parallel units. A `map` after a `map` is composed in the type, so a worker takes an item through all of
//! them in one call.
//!
//! Each operator is a struct that contains the unit before it. Operators *emit* their results by a call, so
//! one mechanism serves operators with no, one or many results for an item.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use crate::engine::{Taker, Upstream};
use crate::flow::{Flow, Halt};
use crate::progress::Bytes;
use crate::shape::{Batched, Shape, Single};

/// A parallel unit: the types that it takes and gives, and the state that a worker has for it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the code of a stream",
    label = "not the code of a stream",
    note = "the type of a stream of items `T` that can be named is `BoxStream<'static, T>`, or `TryBoxStream<'static, T, E>` if it may fail; `boxed()` makes one"
)]
pub trait Unit: Sync {
    /// The type of the items that the unit takes.
    type In: Send;
    /// The type of the items that the unit gives.
    type Out: Send;
    /// The shape of the lane before the unit.
    type From: Shape;
    /// The shape of the lane behind the unit.
    type To: Shape;
    /// The state that each worker has for the unit.
    type Local;

    /// Whether the items were dealt to shards. Then the items of one shard must be processed one after
    /// another.
    #[doc(hidden)]
    const IS_DEALT: bool = false;

    /// Creates the state of a worker, on that worker's thread.
    fn local(&self) -> Self::Local;

    /// Whether the unit passes its items on unchanged.
    #[doc(hidden)]
    const DOES_NOTHING: bool = false;

    /// The taker of the items that come to the unit, if the unit [does nothing](Self::DOES_NOTHING).
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn bypass<'run>(_: TakerOf<'run, Self::To, Self::Out>) -> TakerOf<'run, Self::From, Self::In> {
        unreachable!("only a unit that does nothing is left out")
    }

    /// What comes before the unit as the code of its results, if the unit [does nothing](Self::DOES_NOTHING).
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn only_upstream<'env>(_: CodeOf<'env, Self::From, Self::In>) -> CodeOf<'env, Self::To, Self::Out> {
        unreachable!("only a unit that does nothing is left out")
    }
}

type TakerOf<'run, S, T> = Taker<'run, <S as Shape>::Slot<T>>;
type CodeOf<'env, S, T> = Box<dyn Upstream<<S as Shape>::Slot<T>> + 'env>;

/// The types of the slots that a unit takes from and gives to.
pub(crate) type Taken<U> = <<U as Unit>::From as Shape>::Slot<<U as Unit>::In>;
pub(crate) type Given<U> = <<U as Unit>::To as Shape>::Slot<<U as Unit>::Out>;

/// A unit that runs in a stream whose error is `E`.
pub trait Apply<E>: Unit {
    /// Takes one item through the unit, and emits its results.
    fn apply(
        &self,
        local: &mut Self::Local,
        item: Self::In,
        emit: &mut impl FnMut(Self::Out) -> Flow<E>,
    ) -> Flow<E>;
}

/// The unit that does nothing: it passes its items on.
#[derive(Debug)]
pub struct Identity<T, S>(PhantomData<fn(T) -> S>);

impl<T, S> Identity<T, S> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Send, S: Shape> Unit for Identity<T, S> {
    type In = T;
    type Out = T;
    type From = S;
    type To = S;
    type Local = ();
    const DOES_NOTHING: bool = true;

    fn local(&self) {}

    #[allow(private_interfaces)]
    fn bypass<'run>(taker: TakerOf<'run, S, T>) -> TakerOf<'run, S, T> {
        taker
    }

    #[allow(private_interfaces)]
    fn only_upstream<'env>(upstream: CodeOf<'env, S, T>) -> CodeOf<'env, S, T> {
        upstream
    }
}

/// The code of a stream whose last stage is the source or a serial stage.
#[diagnostic::on_unimplemented(
    message = "`dedicated()` follows a parallel stage",
    label = "only a source or a serial stage has a thread of its own",
    note = "the workers run a parallel stage for several items at once: `replicate(n)` sets for how many"
)]
pub trait EndsSerial: Unit {}

impl<T: Send, S: Shape> EndsSerial for Identity<T, S> {}

impl<E, T: Send, S: Shape> Apply<E> for Identity<T, S> {
    #[inline]
    fn apply(&self, (): &mut (), item: T, emit: &mut impl FnMut(T) -> Flow<E>) -> Flow<E> {
        emit(item)
    }
}

/// The first unit behind the stage that deals items to shards. It passes each item on with the number of its
/// shard.
#[derive(Debug)]
pub struct Dealt<T>(PhantomData<fn(T)>);

impl<T> Dealt<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Send> Unit for Dealt<T> {
    type In = (usize, T);
    type Out = (usize, T);
    type From = Single;
    type To = Single;
    type Local = ();
    const IS_DEALT: bool = true;

    fn local(&self) {}
}

impl<E, T: Send> Apply<E> for Dealt<T> {
    #[inline]
    fn apply(&self, (): &mut (), item: (usize, T), emit: &mut impl FnMut((usize, T)) -> Flow<E>) -> Flow<E> {
        emit(item)
    }
}

/// Writes the struct of an operator and its two `impl`s. Operators differ in their output, its shape, and
/// their body.
macro_rules! operator {
    (
        $(#[$doc:meta])*
        $name:ident<$f:ident $(, $extra:ident)*> where [$($bound:tt)*],
        out $out:ty, to $to:ty, error $error:ident $($from:ident)?,
        |$self:ident, $item:ident, $emit:ident| $body:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<P, $f $(, $extra)*> {
            pub(crate) before: P,
            pub(crate) call: $f,
            pub(crate) types: PhantomData<fn() -> ($($extra,)*)>,
        }

        impl<P: Unit, $f: Sync $(, $extra)*> Unit for $name<P, $f $(, $extra)*>
        where
            $($bound)*
        {
            type In = P::In;
            type Out = $out;
            type From = P::From;
            type To = $to;
            type Local = P::Local;
            const IS_DEALT: bool = P::IS_DEALT;

            fn local(&self) -> P::Local {
                self.before.local()
            }
        }

        operator!(@apply $error $($from)?, $name<$f $(, $extra)*> where [$($bound)*], $out, |$self, $item, $emit| $body);
    };
    (@apply any, $name:ident<$f:ident $(, $extra:ident)*> where [$($bound:tt)*], $out:ty,
     |$self:ident, $item:ident, $emit:ident| $body:expr) => {
        impl<X, P: Apply<X>, $f: Sync $(, $extra)*> Apply<X> for $name<P, $f $(, $extra)*>
        where
            $($bound)*
        {
            #[inline]
            fn apply(
                &$self,
                local: &mut P::Local,
                item: P::In,
                $emit: &mut impl FnMut($out) -> Flow<X>,
            ) -> Flow<X> {
                $self.before.apply(local, item, &mut |$item| $body)
            }
        }
    };
    (@apply from $error:ident, $name:ident<$f:ident $(, $extra:ident)*> where [$($bound:tt)*], $out:ty,
     |$self:ident, $item:ident, $emit:ident| $body:expr) => {
        impl<X: From<$error>, P: Apply<X>, $f: Sync $(, $extra)*> Apply<X> for $name<P, $f $(, $extra)*>
        where
            $($bound)*
        {
            #[inline]
            fn apply(
                &$self,
                local: &mut P::Local,
                item: P::In,
                $emit: &mut impl FnMut($out) -> Flow<X>,
            ) -> Flow<X> {
                $self.before.apply(local, item, &mut |$item| $body)
            }
        }
    };
}

operator! {
    /// See [`Stream::map`](crate::Stream::map).
    Map<F, U> where [U: Send, F: Fn(P::Out) -> U],
    out U, to P::To, error any,
    |self, item, emit| emit((self.call)(item))
}

operator! {
    /// See [`Stream::filter`](crate::Stream::filter).
    Filter<F> where [F: Fn(&P::Out) -> bool],
    out P::Out, to P::To, error any,
    |self, item, emit| if (self.call)(&item) { emit(item) } else { ControlFlow::Continue(()) }
}

operator! {
    /// See [`Stream::filter_map`](crate::Stream::filter_map).
    FilterMap<F, U> where [U: Send, F: Fn(P::Out) -> Option<U>],
    out U, to P::To, error any,
    |self, item, emit| match (self.call)(item) {
        Some(item) => emit(item),
        None => ControlFlow::Continue(()),
    }
}

operator! {
    /// See [`Stream::flat_map`](crate::Stream::flat_map).
    FlatMap<F, I> where [I: IntoIterator, I::Item: Send, F: Fn(P::Out) -> I],
    out I::Item, to Batched, error any,
    |self, item, emit| (self.call)(item).into_iter().try_for_each(&mut *emit)
}

operator! {
    /// See [`Stream::inspect`](crate::Stream::inspect).
    Inspect<F> where [F: Fn(&P::Out)],
    out P::Out, to P::To, error any,
    |self, item, emit| {
        (self.call)(&item);
        emit(item)
    }
}

operator! {
    /// See [`Stream::try_map`](crate::Stream::try_map).
    TryMap<F, U, E> where [U: Send, F: Fn(P::Out) -> Result<U, E>],
    out U, to P::To, error from E,
    |self, item, emit| match (self.call)(item) {
        Ok(item) => emit(item),
        Err(error) => ControlFlow::Break(Halt::Error(error.into())),
    }
}

operator! {
    /// See [`Stream::try_filter_map`](crate::Stream::try_filter_map).
    TryFilterMap<F, U, E> where [U: Send, F: Fn(P::Out) -> Result<Option<U>, E>],
    out U, to P::To, error from E,
    |self, item, emit| match (self.call)(item) {
        Ok(Some(item)) => emit(item),
        Ok(None) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(Halt::Error(error.into())),
    }
}

operator! {
    /// See [`Stream::try_flat_map`](crate::Stream::try_flat_map).
    TryFlatMap<F, I, U, E> where [U: Send, I: IntoIterator<Item = Result<U, E>>, F: Fn(P::Out) -> I],
    out U, to Batched, error from E,
    |self, item, emit| {
        for result in (self.call)(item) {
            match result {
                Ok(item) => emit(item)?,
                Err(error) => return ControlFlow::Break(Halt::Error(error.into())),
            }
        }
        ControlFlow::Continue(())
    }
}

/// Writes the struct of an operator with a state for each worker, and its two `impl`s. Operators differ in
/// the return type of their function, and in how they emit its value.
macro_rules! operator_with {
    (
        $(#[$doc:meta])*
        $name:ident gives $gives:ty, types [$($type:ident)?],
        |$given:ident, $emit:ident| $body:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<P, N, F> {
            pub(crate) before: P,
            pub(crate) make: N,
            pub(crate) call: F,
        }

        impl<P: Unit, L, U: Send, $($type,)? N, F> Unit for $name<P, N, F>
        where
            N: Fn() -> L + Sync,
            F: Fn(&mut L, P::Out) -> $gives + Sync,
        {
            type In = P::In;
            type Out = U;
            type From = P::From;
            type To = P::To;
            type Local = (P::Local, L);
            const IS_DEALT: bool = P::IS_DEALT;

            fn local(&self) -> Self::Local {
                (self.before.local(), (self.make)())
            }
        }

        impl<X $(: From<$type>, $type)?, P: Apply<X>, L, U: Send, N, F> Apply<X> for $name<P, N, F>
        where
            N: Fn() -> L + Sync,
            F: Fn(&mut L, P::Out) -> $gives + Sync,
        {
            #[inline]
            fn apply(
                &self,
                (before, own): &mut Self::Local,
                item: P::In,
                $emit: &mut impl FnMut(U) -> Flow<X>,
            ) -> Flow<X> {
                self.before.apply(before, item, &mut |item| {
                    let $given = (self.call)(own, item);
                    $body
                })
            }
        }
    };
}

operator_with! {
    /// See [`Stream::map_with`](crate::Stream::map_with).
    MapWith gives U, types [],
    |given, emit| emit(given)
}

operator_with! {
    /// See [`Stream::filter_map_with`](crate::Stream::filter_map_with).
    FilterMapWith gives Option<U>, types [],
    |given, emit| match given {
        Some(item) => emit(item),
        None => ControlFlow::Continue(()),
    }
}

operator_with! {
    /// See [`Stream::try_map_with`](crate::Stream::try_map_with).
    TryMapWith gives Result<U, E>, types [E],
    |given, emit| match given {
        Ok(item) => emit(item),
        Err(error) => ControlFlow::Break(Halt::Error(error.into())),
    }
}

/// See [`Stream::count_bytes`](crate::Stream::count_bytes).
#[derive(Debug)]
pub struct CountBytes<P, F> {
    pub(crate) before: P,
    pub(crate) call: F,
    pub(crate) bytes: Bytes,
}

impl<P: Unit, F: Fn(&P::Out) -> u64 + Sync> Unit for CountBytes<P, F> {
    type In = P::In;
    type Out = P::Out;
    type From = P::From;
    type To = P::To;
    type Local = P::Local;
    const IS_DEALT: bool = P::IS_DEALT;

    fn local(&self) -> P::Local {
        self.before.local()
    }
}

impl<E, P: Apply<E>, F: Fn(&P::Out) -> u64 + Sync> Apply<E> for CountBytes<P, F> {
    #[inline]
    fn apply(&self, local: &mut P::Local, item: P::In, emit: &mut impl FnMut(P::Out) -> Flow<E>) -> Flow<E> {
        self.before.apply(local, item, &mut |item| {
            self.bytes.fetch_add((self.call)(&item), Ordering::Relaxed);
            emit(item)
        })
    }
}
