//! How operators add their stages to a stream.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use anabranch_plan::{ItemType, Node};
use anabranch_record::sync::Arc;

use super::{Admit, Mode, Stream, TryStream};
use crate::engine::nodes::pull::TryFromIter;
use crate::engine::{
    Claimed, Halt, Parallel, ParallelEach, ParallelMany, ParallelUpstream, Serial, SerialEach,
    SourceUpstream, Spread, SpreadUpstream, StageUpstream, UnitKind, Upstream,
};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// The stream with more code behind its own. `extend` gets the code so far.
    pub(crate) fn with_code<V: Send>(
        self,
        extend: impl FnOnce(Box<dyn Upstream<T> + 'env>) -> Box<dyn Upstream<V> + 'env>,
    ) -> Stream<'env, V, M> {
        let Self { code, errors, draft, .. } = self;
        Stream { code: extend(code), errors, draft, mode: PhantomData }
    }

    /// The stream with a source that has no items in the place of everything that was added so far. Its settings stay, and so do the
    /// options of the next stage.
    pub(crate) fn emptied(mut self) -> Self {
        let pull = TryFromIter(std::iter::empty());
        let errors = Arc::clone(&self.errors);
        self.code = Box::new(SourceUpstream { pull, errors, id: 0, weigher: None });
        self.draft.empty();
        self
    }

    /// Adds a serial stage.
    pub(crate) fn stage<Op>(mut self, node: Node, op: Op) -> Stream<'env, Op::Out, M>
    where
        Op: Serial<T, M::Error, Out: 'env> + Send + 'env,
    {
        let id = self.draft.outline.add(node, ItemType::of::<T>());
        let errors = Arc::clone(&self.errors);
        self.with_code(|before| Box::new(StageUpstream { before, errors, op, id }))
    }

    /// Adds a serial stage that gives at most one result for an item, and cannot fail.
    pub(crate) fn serial_each<V, F>(self, node: Node, mut f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: FnMut(T) -> Option<V> + Send + 'env,
    {
        self.stage(node, SerialEach(move |item| ControlFlow::Continue(f(item))))
    }

    /// Adds a serial stage that ends the stream if its function returns `None`.
    pub(crate) fn serial_while<V, F>(self, node: Node, mut f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: FnMut(T) -> Option<V> + Send + 'env,
    {
        let call = move |item| match f(item) {
            None => ControlFlow::Break(Halt::Break),
            result => ControlFlow::Continue(result),
        };
        self.stage(node, SerialEach(call))
    }

    /// Adds a serial stage that gives at most one result for an item, and may fail.
    pub(crate) fn try_serial_each<V, E, F>(self, node: Node, mut f: F) -> TryStream<'env, V, M::Failure>
    where
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: FnMut(T) -> Result<Option<V>, E> + Send + 'env,
    {
        let call = move |item| match f(item) {
            Ok(result) => ControlFlow::Continue(result),
            Err(error) => ControlFlow::Break(Halt::Error(error.into())),
        };
        self.admit::<E>().stage(node.fallible(), SerialEach(call))
    }

    /// Adds a spreading stage. A new domain begins there.
    #[track_caller]
    pub(crate) fn spreading<Op>(mut self, node: Node, op: Op) -> Stream<'env, Op::Out, M>
    where
        Op: Spread<T, M::Error, Out: 'env> + 'env,
    {
        let id = self.draft.outline.add_domain(node, ItemType::of::<T>());
        let errors = Arc::clone(&self.errors);
        self.with_code(|before| Box::new(SpreadUpstream { before, errors, op, id }))
    }

    /// Adds a parallel stage.
    pub(crate) fn parallel<V, Op>(self, node: Node, op: Op) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        Op: Parallel<T, M::Error, Side: Serial<T, M::Error, Out = V>> + 'env,
    {
        self.parallel_as(node, op, Claimed)
    }

    /// Adds a parallel stage whose unit is of a kind.
    pub(crate) fn parallel_as<V, Op, K>(mut self, node: Node, op: Op, kind: K) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        Op: Parallel<T, M::Error, Side: Serial<T, M::Error, Out = V>> + 'env,
        K: UnitKind<T> + 'env,
    {
        self.draft.outline.gives_many |= op.side().gives_many();
        let id = self.draft.outline.add(node, ItemType::of::<T>());
        let errors = Arc::clone(&self.errors);
        self.with_code(|before| Box::new(ParallelUpstream { before, errors, op, id, kind }))
    }

    /// Adds a parallel stage that has no state and cannot fail.
    pub(crate) fn each<V, F>(self, node: Node, f: F) -> Stream<'env, V, M>
    where
        V: Send + 'env,
        F: Fn(T) -> Option<V> + Send + Sync + 'env,
    {
        self.parallel(node, ParallelEach::new(|| (), move |(): &mut (), item| Ok::<_, M::Error>(f(item))))
    }

    /// Adds a parallel stage that gives any number of results for an item, and cannot fail.
    pub(crate) fn many<I, F>(self, node: Node, f: F) -> Stream<'env, I::Item, M>
    where
        I: IntoIterator<Item: Send + 'env>,
        F: Fn(T) -> I + Send + Sync + 'env,
    {
        self.parallel(node, ParallelMany::new(move |item| f(item).into_iter().map(Ok::<_, M::Error>)))
    }

    /// Adds a parallel stage that may fail.
    pub(crate) fn try_each<V, E, F>(self, node: Node, f: F) -> TryStream<'env, V, M::Failure>
    where
        V: Send + 'env,
        E: 'env,
        M: Admit<E, Failure: 'env>,
        F: Fn(T) -> Result<Option<V>, E> + Send + Sync + 'env,
    {
        self.admit::<E>()
            .parallel(node.fallible(), ParallelEach::new(|| (), move |(): &mut (), item| f(item)))
    }

    /// Lets a stage whose error is one of these end the stream as if it needed no more items.
    pub(crate) fn leaving(self, leaves: fn(&M::Error) -> bool) -> Self {
        self.errors.leave_by(leaves);
        self
    }

    /// Returns the same stream, in the mode in which calls may fail with `E`.
    pub(crate) fn admit<E>(self) -> TryStream<'env, T, M::Failure>
    where
        M: Admit<E>,
    {
        let Self { code, errors, draft, .. } = self;
        Stream { code, errors: M::admit(errors), draft, mode: PhantomData }
    }
}
