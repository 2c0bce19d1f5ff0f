//! The results of all shards, in order.

use std::panic::resume_unwind;

use super::KeyedWindow;
use super::results::{Closed, Failure, Late, Results};
use crate::engine::Spread;
use crate::engine::nodes::pull::Pulled;

/// The results of one chunk.
pub(crate) struct Part<K, T, V> {
    /// How many chunks the block has.
    pub(super) of: usize,
    pub(super) results: Results<K, T, V>,
    pub(super) failure: Option<Failure>,
}

/// Results in order: windows that have closed, the late items between them, and the failure behind them.
pub(super) struct Ordered<K, T, V> {
    closed: std::vec::IntoIter<Closed<K, V>>,
    late: std::vec::IntoIter<Late<T>>,
    failure: Option<Failure>,
}

impl<K, T, V> Ordered<K, T, V> {
    pub(super) fn new(results: Results<K, T, V>, failure: Option<Failure>) -> Self {
        let Results { mut closed, mut late } = results;
        if let Some(Failure { rank, order, .. }) = &failure {
            closed.retain(|closed| closed.rank < *rank);
            late.retain(|late| late.order < *order);
        }
        // The results of each shard are sorted already, and this sort makes use of it.
        closed.sort_by_key(|closed| closed.rank);
        late.sort_by_key(|late| late.order);
        Self { closed: closed.into_iter(), late: late.into_iter(), failure }
    }

    /// Returns the next window. Gives the late items before it to `take`.
    #[inline]
    pub(super) fn next(&mut self, take: &mut impl FnMut(T)) -> Option<Closed<K, V>> {
        while let Some(late) = self.late.as_slice().first()
            && self.closed.as_slice().first().is_none_or(|closed| closed.rank >= late.rank)
        {
            self.late.next().into_iter().for_each(|late| take(late.item));
        }
        let next = self.closed.next();
        if next.is_none()
            && let Some(failure) = self.failure.take()
        {
            resume_unwind(failure.payload.into_inner());
        }
        next
    }
}

/// A spreading stage that gathers what came of the chunks of a block, and gives it in order.
pub(crate) struct Merge<K, T, V, L> {
    late: L,
    /// How many parts of the block have come.
    came: usize,
    results: Results<K, T, V>,
    failure: Option<Failure>,
    /// The results of the last whole block.
    ordered: Option<Ordered<K, T, V>>,
}

impl<K, T, V, L> Merge<K, T, V, L> {
    pub(crate) fn new(late: L) -> Self {
        Self { late, came: 0, results: Results::default(), failure: None, ordered: None }
    }
}

impl<K: Send, T: Send, V: Send, L: FnMut(T) + Send, E> Spread<Part<K, T, V>, E> for Merge<K, T, V, L> {
    type Out = KeyedWindow<K, V>;

    fn open(&mut self, part: Part<K, T, V>) {
        let Part { of, results, failure } = part;
        self.came += 1;
        if self.results.closed.is_empty() {
            self.results.closed = results.closed;
        } else {
            self.results.closed.extend(results.closed);
        }
        self.results.late.extend(results.late);
        self.failure = Failure::earlier(self.failure.take(), failure);
        if self.came == of {
            self.came = 0;
            self.ordered = Some(Ordered::new(std::mem::take(&mut self.results), self.failure.take()));
        }
    }

    #[inline]
    fn next(&mut self) -> Pulled<Self::Out, E> {
        match self.ordered.as_mut().and_then(|ordered| ordered.next(&mut self.late)) {
            Some(Closed { start, end, key, value, .. }) => {
                Pulled::Item(KeyedWindow { key, start, end, value })
            }
            None => {
                self.ordered = None;
                Pulled::End
            }
        }
    }
}
