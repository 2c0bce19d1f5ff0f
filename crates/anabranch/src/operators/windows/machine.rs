//! The windows that are open, of one shard or of the whole stream.

use super::aggregate::Aggregate;
use super::count::Count;
use super::keys::Hashed;
use super::layout::Layout;
use super::results::{ItemPlace, Results};
use super::session::Sessions;
use super::time::Times;

/// The windows that are open, of one shard or of the whole stream.
pub(crate) enum Machine<K, T, A: Aggregate<T>> {
    Count(Count<K, T, A>),
    Time(Times<K, T, A>),
    Session(Sessions<K, T, A>),
}

impl<K: Eq + Clone, T, A: Aggregate<T>> Machine<K, T, A> {
    pub(crate) fn new(layout: Layout) -> Self {
        match layout {
            Layout::Count { size, step } => Machine::Count(Count::new(size, step)),
            Layout::Time { length, step, .. } => Machine::Time(Times::new(length, step)),
            Layout::Session { gap, .. } => Machine::Session(Sessions::new(gap)),
        }
    }

    /// Adds an item to its windows.
    #[inline]
    pub(crate) fn add(
        &mut self,
        place: ItemPlace,
        key: Hashed<K>,
        item: T,
        aggregate: &A,
        results: &mut Results<K, T, A::Value>,
    ) {
        match self {
            Machine::Count(count) => count.add(place, key, item, aggregate, results),
            Machine::Time(times) => times.add(place, key, item, aggregate, results),
            Machine::Session(sessions) => sessions.add(place, key, item, aggregate, results),
        }
    }

    /// Brings what adding items with keys of these hashes will read into the cache, as far as that pays.
    pub(crate) fn warm(&self, hashes: impl Iterator<Item = u64>) {
        if let Machine::Time(times) = self {
            std::hint::black_box(times.warm(hashes));
        }
    }

    /// Closes the windows whose end the watermark has reached. `closing` is set to the end of the window that is being
    /// closed.
    pub(crate) fn advance(
        &mut self,
        watermark: i64,
        aggregate: &A,
        closing: &mut i64,
        results: &mut Results<K, T, A::Value>,
    ) {
        match self {
            Machine::Count(_) => {}
            Machine::Time(times) => times.advance(watermark, aggregate, closing, results),
            Machine::Session(sessions) => sessions.advance(watermark, aggregate, closing, results),
        }
    }

    /// Closes all windows, at the end of the stream.
    pub(crate) fn end(&mut self, aggregate: &A, closing: &mut i64, results: &mut Results<K, T, A::Value>) {
        match self {
            Machine::Count(count) => count.end(aggregate, results),
            Machine::Time(times) => times.advance(i64::MAX, aggregate, closing, results),
            Machine::Session(sessions) => sessions.advance(i64::MAX, aggregate, closing, results),
        }
    }
}
