//! Shapes of lanes: an index carries one item, or the batch of items that a `flat_map` made of one.

use std::fmt::Debug;

use crate::engine::Upstream;

/// The shape of a lane's slots. Implemented by [`Single`] and [`Batched`] only.
pub trait Shape: sealed::Sealed + Debug + Send + Sync + 'static {
    /// The type of the value in a slot, for items `T`.
    type Slot<T: Send>: Send;
    /// The type that gathers the results of one index until they are stored.
    type Gather<T: Send>;
    /// Whether an index may carry several items.
    const BATCHED: bool;

    /// The same code as that of a stream of single items, if an index has one.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn single<'env, T: Send>(
        upstream: Box<dyn Upstream<Self::Slot<T>> + 'env>,
    ) -> Option<Box<dyn Upstream<T> + 'env>>;

    /// Calls `f` with each item of a slot, in order, until it does not continue.
    fn each<T: Send, B>(
        slot: Self::Slot<T>,
        f: impl FnMut(T) -> std::ops::ControlFlow<B>,
    ) -> std::ops::ControlFlow<B>;

    /// How many items a slot holds.
    fn count<T: Send>(slot: &Self::Slot<T>) -> u64;

    /// The sum of `f` over the items of a slot, at most 2^64 - 1.
    fn sum<T: Send>(slot: &Self::Slot<T>, f: impl Fn(&T) -> u64) -> u64;

    /// Gathers results: about as many as `expected`.
    fn gather<T: Send>(expected: u64) -> Self::Gather<T>;

    /// Adds an item to what was gathered.
    fn push<T: Send>(gather: &mut Self::Gather<T>, item: T);

    /// Turns the gathered items into the value of a slot. `None` if there are none.
    fn slot<T: Send>(gather: Self::Gather<T>) -> Option<Self::Slot<T>>;
}

/// One item an index.
#[derive(Debug, Clone, Copy)]
pub struct Single;

/// A batch of items an index.
#[derive(Debug, Clone, Copy)]
pub struct Batched;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Single {}
    impl Sealed for super::Batched {}
}

impl Shape for Single {
    type Slot<T: Send> = T;
    type Gather<T: Send> = Option<T>;
    const BATCHED: bool = false;

    #[allow(private_interfaces)]
    fn single<'env, T: Send>(upstream: Box<dyn Upstream<T> + 'env>) -> Option<Box<dyn Upstream<T> + 'env>> {
        Some(upstream)
    }

    #[inline]
    fn each<T: Send, B>(
        slot: T,
        mut f: impl FnMut(T) -> std::ops::ControlFlow<B>,
    ) -> std::ops::ControlFlow<B> {
        f(slot)
    }

    #[inline]
    fn count<T: Send>(_: &T) -> u64 {
        1
    }

    #[inline]
    fn sum<T: Send>(slot: &T, f: impl Fn(&T) -> u64) -> u64 {
        f(slot)
    }

    #[inline]
    fn gather<T: Send>(_: u64) -> Option<T> {
        None
    }

    #[inline]
    fn push<T: Send>(gather: &mut Option<T>, item: T) {
        *gather = Some(item);
    }

    #[inline]
    fn slot<T: Send>(gather: Option<T>) -> Option<T> {
        gather
    }
}

impl Shape for Batched {
    type Slot<T: Send> = Vec<T>;
    type Gather<T: Send> = Vec<T>;
    const BATCHED: bool = true;

    #[allow(private_interfaces)]
    fn single<'env, T: Send>(_: Box<dyn Upstream<Vec<T>> + 'env>) -> Option<Box<dyn Upstream<T> + 'env>> {
        None
    }

    #[inline]
    fn each<T: Send, B>(
        slot: Vec<T>,
        f: impl FnMut(T) -> std::ops::ControlFlow<B>,
    ) -> std::ops::ControlFlow<B> {
        slot.into_iter().try_for_each(f)
    }

    #[inline]
    fn count<T: Send>(slot: &Vec<T>) -> u64 {
        slot.len() as u64
    }

    fn sum<T: Send>(slot: &Vec<T>, f: impl Fn(&T) -> u64) -> u64 {
        slot.iter().map(f).fold(0, u64::saturating_add)
    }

    #[inline]
    fn gather<T: Send>(expected: u64) -> Vec<T> {
        // A batch made of one item may be empty, and needs no memory then.
        Vec::with_capacity(if expected > 1 { expected as usize } else { 0 })
    }

    #[inline]
    fn push<T: Send>(gather: &mut Vec<T>, item: T) {
        gather.push(item);
    }

    #[inline]
    fn slot<T: Send>(gather: Vec<T>) -> Option<Vec<T>> {
        (!gather.is_empty()).then_some(gather)
    }
}
