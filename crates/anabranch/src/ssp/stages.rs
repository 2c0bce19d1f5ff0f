//! The stages of a pipeline that is being built. The macros call the hidden functions.

use std::sync::Arc;

use super::line::{Line, Numbered};
use super::pipeline::Pipeline;
use super::replicas::{ReplicaHandle, Replicas};
use super::wish::{Order, Wish};
use super::{In, InOut};

/// A stage that is not in a pipeline yet: [`Parallel`] or [`Sequential`].
///
/// Both are one type, so that the functions of [`line`](super::line) can name the type `S` of the stage's code.
/// This lets the compiler mark the stage that takes another type of item, and not the whole `pipeline!`.
#[derive(Debug)]
pub struct Stage<S, K> {
    /// One for each replica.
    replicas: Vec<S>,
    kind: K,
}

/// A stage with replicas, from [`parallel!`](super::parallel).
pub type Parallel<S> = Stage<S, AtOnce>;

/// A stage without replicas, from [`sequential!`](super::sequential),
/// [`sequential_ordered!`](super::sequential_ordered) and the two macros that collect.
pub type Sequential<S> = Stage<S, InTurn>;

/// The replicas of a stage process items at the same time.
#[derive(Debug)]
pub struct AtOnce;

/// A stage processes one item at a time.
#[derive(Debug)]
pub struct InTurn {
    is_ordered: bool,
    only_collects: bool,
}

/// How a stage processes its items.
#[doc(hidden)]
pub trait Kind: Sized {
    #[doc(hidden)]
    fn wish<S>(stage: &Stage<S, Self>) -> Wish;

    #[doc(hidden)]
    fn join<P, T, V, S>(stage: Stage<S, Self>, line: Line<P, T>) -> Line<P, V>
    where
        P: Send + 'static,
        T: Send + 'static,
        V: Send + 'static,
        S: InOut<T, V> + Send + 'static;

    #[doc(hidden)]
    fn close<P, T, R, S>(stage: Stage<S, Self>, line: Line<P, T>) -> Pipeline<P, R>
    where
        P: Send + 'static,
        T: Send + 'static,
        R: Send + 'static,
        S: In<T, R> + Send + 'static;
}

impl<S, K: Kind> Stage<S, K> {
    pub(super) fn wish(&self) -> Wish {
        K::wish(self)
    }
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
        assert!(count > 0, "`parallel!(stage, {replicas})`: a stage has 1 replica or more");
        Self { replicas: std::iter::repeat_with(make).take(count).collect(), kind: AtOnce }
    }
}

impl Kind for AtOnce {
    fn wish<S>(stage: &Parallel<S>) -> Wish {
        Wish { workers: stage.replicas.len(), order: Order::Parallel }
    }

    fn join<P, T, V, S>(stage: Parallel<S>, line: Line<P, T>) -> Line<P, V>
    where
        P: Send + 'static,
        T: Send + 'static,
        V: Send + 'static,
        S: InOut<T, V> + Send + 'static,
    {
        let count = stage.replicas.len();
        let replicas = Arc::new(Replicas::new(stage.replicas, line.terms.workers));
        let call = |handle: &mut ReplicaHandle<S>, (number, item): Numbered<T>| {
            Some((number, handle.with(|stage| stage.process(item))?))
        };
        let Line { sender, stream, terms, .. } = line.passed();
        let stream = stream.named("parallel").replicas(terms.has_one_bound.then_some(count));
        let stream = stream.filter_map_with(move || replicas.handle(), call);
        Line { sender, stream, terms }
    }

    fn close<P, T, R, S>(stage: Parallel<S>, line: Line<P, T>) -> Pipeline<P, R>
    where
        P: Send + 'static,
        T: Send + 'static,
        R: Send + 'static,
        S: In<T, R> + Send + 'static,
    {
        let count = stage.replicas.len();
        let replicas = Arc::new(Replicas::new(stage.replicas, line.terms.workers));
        let call =
            |handle: &mut ReplicaHandle<S>, (number, item)| handle.with(|stage| stage.process(item, number));
        let Line { sender, stream, terms, .. } = line.passed();
        let stream = stream.named("parallel").replicas(terms.has_one_bound.then_some(count));
        let stream = stream.map_init(move || replicas.handle(), call);
        let plan = stream.plan();
        Pipeline::start(sender, plan, move || stream.collect())
    }
}

impl<S> Sequential<S> {
    #[doc(hidden)]
    pub fn new(code: S, is_ordered: bool) -> Self {
        Self { replicas: vec![code], kind: InTurn { is_ordered, only_collects: false } }
    }

    /// Creates a stage that hands its items on and never waits.
    #[doc(hidden)]
    pub fn collecting(code: S, is_ordered: bool) -> Self {
        Self { replicas: vec![code], kind: InTurn { is_ordered, only_collects: true } }
    }

    fn code(mut self) -> S {
        self.replicas.pop().expect("a stage without replicas has one code")
    }
}

impl Kind for InTurn {
    fn wish<S>(stage: &Sequential<S>) -> Wish {
        let order = if stage.kind.is_ordered { Order::Posts } else { Order::Any };
        Wish { workers: usize::from(!stage.kind.only_collects), order }
    }

    fn join<P, T, V, S>(stage: Sequential<S>, line: Line<P, T>) -> Line<P, V>
    where
        P: Send + 'static,
        T: Send + 'static,
        V: Send + 'static,
        S: InOut<T, V> + Send + 'static,
    {
        let mut code = stage.code();
        let call = move |(number, item): Numbered<T>| Some((number, code.process(item)?));
        let Line { sender, stream, terms, .. } = line.passed();
        Line { sender, stream: stream.named("sequential").serial_filter_map(call), terms }
    }

    fn close<P, T, R, S>(stage: Sequential<S>, line: Line<P, T>) -> Pipeline<P, R>
    where
        P: Send + 'static,
        T: Send + 'static,
        R: Send + 'static,
        S: In<T, R> + Send + 'static,
    {
        let mut code = stage.code();
        let Line { sender, stream, .. } = line.passed();
        let plan = stream.plan();
        Pipeline::start(sender, plan, move || {
            let mut collected = Vec::new();
            stream.for_each(|(number, item)| collected.push(code.process(item, number)));
            collected
        })
    }
}
