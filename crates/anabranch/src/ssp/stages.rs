//! The stages of a pipeline that is being built. The macros call the hidden functions.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

use super::line::{Line, Numbered};
use super::pipeline::Pipeline;
use super::replicas::{Replicas, Seat};
use super::{In, InOut};
use crate::unit::Apply;

/// The replicas of a stage, from [`parallel!`](super::parallel).
#[derive(Debug)]
pub struct Parallel<S> {
    replicas: Vec<S>,
}

/// A stage without replicas, from [`sequential!`](super::sequential),
/// [`sequential_ordered!`](super::sequential_ordered) and the two macros that collect.
#[derive(Debug)]
pub struct Sequential<S> {
    stage: S,
    is_ordered: bool,
    only_collects: bool,
}

/// The expressions that may be stages of a [`pipeline!`](super::pipeline).
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stage of a `pipeline!`",
    label = "expected a stage",
    note = "a stage is `parallel!(f, replicas)`, `sequential!(f)` or `sequential_ordered!(f)`; the last may be `collect!()` or \
            `collect_ordered!()`"
)]
pub trait Stage {
    /// The stage itself. If a type is not a stage, the compiler reports just that.
    type Itself;
    fn itself(self) -> Self::Itself;
}

impl<S> Stage for Parallel<S> {
    type Itself = Self;

    fn itself(self) -> Self {
        self
    }
}

impl<S> Stage for Sequential<S> {
    type Itself = Self;

    fn itself(self) -> Self {
        self
    }
}

/// Checks at compile time that `stage` is a stage.
#[doc(hidden)]
pub fn stage<S: Stage>(stage: S) -> S::Itself {
    stage.itself()
}

/// What a stage needs of the whole pipeline.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// How many workers may be inside at once. All of them may be waiting.
    pub(super) workers: usize,
    pub(super) order: Order,
}

/// The order in which a stage takes its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The stage is parallel and has no order.
    Parallel,
    /// The stage takes items one at a time, in any order.
    Any,
    /// The stage takes items one at a time, in the order of the posts.
    Posts,
}

impl<S> Parallel<S> {
    /// Creates the replicas, with one call of `make` for each.
    ///
    /// # Panics
    /// If `replicas` is 0 or less.
    #[doc(hidden)]
    #[track_caller]
    pub fn new(replicas: i32, make: impl FnMut() -> S) -> Self {
        let count = usize::try_from(replicas).unwrap_or(0);
        assert!(count > 0, "parallel!(stage, {replicas}): a stage needs at least 1 replica");
        Self { replicas: std::iter::repeat_with(make).take(count).collect() }
    }

    #[doc(hidden)]
    pub fn wish(&self) -> Wish {
        Wish { workers: self.replicas.len(), order: Order::Parallel }
    }

    /// Adds the stage to a line.
    #[doc(hidden)]
    pub fn join<P, T, U, V>(
        self,
        line: Line<P, T, U>,
    ) -> Line<P, V, impl Apply<Infallible, Out = Numbered<V>> + Send + 'static>
    where
        P: Send + 'static,
        T: Send + 'static,
        V: Send + 'static,
        U: Apply<Infallible, Out = Numbered<T>> + Send + 'static,
        S: InOut<T, V> + Send + 'static,
    {
        let count = self.replicas.len();
        let replicas = Arc::new(Replicas::new(self.replicas, line.terms.workers));
        let call = |seat: &mut Seat<S>, (number, item): Numbered<T>| {
            Some((number, seat.with(|stage| stage.process(item))?))
        };
        let Line { sender, stream, terms, .. } = line.passed();
        let stream = stream.filter_map_with(move || replicas.seat(), call).name("parallel");
        let stream = if terms.has_one_bound { stream.replicate(count) } else { stream };
        Line { sender, stream, terms, item: PhantomData }
    }

    /// Ends a line with the stage and starts the pipeline.
    #[doc(hidden)]
    pub fn close<P, T, U, R>(self, line: Line<P, T, U>) -> Pipeline<P, R>
    where
        P: Send + 'static,
        T: Send + 'static,
        R: Send + 'static,
        U: Apply<Infallible, Out = Numbered<T>> + Send + 'static,
        S: In<T, R> + Send + 'static,
    {
        let count = self.replicas.len();
        let replicas = Arc::new(Replicas::new(self.replicas, line.terms.workers));
        let call = |seat: &mut Seat<S>, (number, item)| seat.with(|stage| stage.process(item, number));
        let Line { sender, stream, terms, .. } = line.passed();
        let stream = stream.map_with(move || replicas.seat(), call).name("parallel");
        let stream = if terms.has_one_bound { stream.replicate(count) } else { stream };
        let plan = stream.plan();
        Pipeline::start(sender, plan, move || stream.collect())
    }
}

impl<S> Sequential<S> {
    #[doc(hidden)]
    pub fn new(stage: S, is_ordered: bool) -> Self {
        Self { stage, is_ordered, only_collects: false }
    }

    /// Creates a stage that hands its items on and never waits.
    #[doc(hidden)]
    pub fn collecting(stage: S, is_ordered: bool) -> Self {
        Self { stage, is_ordered, only_collects: true }
    }

    #[doc(hidden)]
    pub fn wish(&self) -> Wish {
        let order = if self.is_ordered { Order::Posts } else { Order::Any };
        Wish { workers: usize::from(!self.only_collects), order }
    }

    /// Adds the stage to a line.
    #[doc(hidden)]
    pub fn join<P, T, U, V>(
        self,
        line: Line<P, T, U>,
    ) -> Line<P, V, impl Apply<Infallible, Out = Numbered<V>> + Send + 'static>
    where
        P: Send + 'static,
        T: Send + 'static,
        V: Send + 'static,
        U: Apply<Infallible, Out = Numbered<T>> + Send + 'static,
        S: InOut<T, V> + Send + 'static,
    {
        let Self { mut stage, .. } = self;
        let call = move |(number, item): Numbered<T>| Some((number, stage.process(item)?));
        let Line { sender, stream, terms, .. } = line.passed();
        Line { sender, stream: stream.serial_filter_map(call).name("sequential"), terms, item: PhantomData }
    }

    /// Ends a line with the stage and starts the pipeline.
    #[doc(hidden)]
    pub fn close<P, T, U, R>(self, line: Line<P, T, U>) -> Pipeline<P, R>
    where
        P: Send + 'static,
        T: Send + 'static,
        R: Send + 'static,
        U: Apply<Infallible, Out = Numbered<T>> + Send + 'static,
        S: In<T, R> + Send + 'static,
    {
        let Self { mut stage, .. } = self;
        let Line { sender, stream, .. } = line.passed();
        let plan = stream.plan();
        Pipeline::start(sender, plan, move || {
            let mut collected = Vec::new();
            stream.for_each(|(number, item)| collected.push(stage.process(item, number)));
            collected
        })
    }
}
