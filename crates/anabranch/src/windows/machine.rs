//! The windows that are open, of one shard or of the whole stream.

use std::any::Any;

use super::aggregate::Aggregate;
use super::count::Count;
use super::keys::Hashed;
use super::session::Sessions;
use super::time::Times;

/// How windows lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Windows of `size` items that begin with each `step`th.
    Count { size: i64, step: i64 },
    /// Windows of `length` units of time that begin at each multiple of `step`.
    Time { length: i64, step: i64, lateness: i64 },
    /// Windows that end with a gap.
    Session { gap: i64, lateness: i64 },
}

impl Layout {
    /// The watermark when `high` is the greatest time so far.
    #[inline]
    pub(super) fn watermark(&self, high: i64) -> i64 {
        match *self {
            Layout::Count { .. } => i64::MIN,
            Layout::Time { lateness, .. } => high.saturating_sub(lateness),
            Layout::Session { gap, lateness } => {
                let (watermark, grain) = (high.saturating_sub(lateness), grain(gap));
                watermark.div_euclid(grain).saturating_mul(grain)
            }
        }
    }

    /// The last place at or before `watermark` at which windows may close. If it is the same for two watermarks, no window
    /// closes between them.
    #[inline]
    pub(super) fn border(&self, watermark: i64) -> i64 {
        match *self {
            Layout::Count { .. } => 0,
            Layout::Time { length, step, .. } => watermark.div_euclid(common_divisor(length, step)),
            Layout::Session { .. } => watermark,
        }
    }

    /// The least rank of the windows that have not closed before the item `order`, which came at `watermark`.
    #[inline]
    pub(super) fn rank_from(&self, order: u64, watermark: i64) -> Rank {
        match *self {
            Layout::Count { .. } => (order as i64, 0),
            _ => (watermark.saturating_add(1), 0),
        }
    }
}

/// The watermark of sessions is a multiple of this.
pub(super) fn grain(gap: i64) -> i64 {
    (gap / 16).max(1)
}

/// The greatest common divisor of two positive numbers.
pub(super) fn common_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The place of a result in the order of all results. For windows by count it is the number of the item with which the
/// window is complete; for others the end of the window, and the number of its first item.
pub(crate) type Rank = (i64, u64);

/// A window that has closed.
#[derive(Debug)]
pub(crate) struct Closed<K, V> {
    pub(crate) rank: Rank,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) key: K,
    pub(crate) value: V,
}

/// An item that came too late.
#[derive(Debug)]
pub(crate) struct Late<T> {
    pub(crate) order: u64,
    /// The results before this rank come out before the item is given back.
    pub(crate) rank: Rank,
    pub(crate) item: T,
}

/// A panic of the user's code.
pub(crate) struct Failure {
    /// The results before this rank come out before the panic goes on.
    pub(crate) rank: Rank,
    /// The number of the item, or the greatest number if no item was added.
    pub(crate) order: u64,
    pub(crate) payload: Box<dyn Any + Send>,
}

impl Failure {
    /// Of two failures, the one that the loop would have met first.
    pub(crate) fn earlier(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => {
                Some(if (one.rank, one.order) <= (other.rank, other.order) { one } else { other })
            }
            (one, other) => one.or(other),
        }
    }
}

/// What came out of the windows of one shard.
pub(crate) struct Results<K, T, V> {
    pub(crate) closed: Vec<Closed<K, V>>,
    pub(crate) late: Vec<Late<T>>,
}

impl<K, T, V> Default for Results<K, T, V> {
    fn default() -> Self {
        Self { closed: Vec::new(), late: Vec::new() }
    }
}

/// When an item came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The number of the item among all items of the stream.
    pub(crate) order: u64,
    pub(crate) time: i64,
    /// The watermark of the items before it.
    pub(crate) watermark: i64,
}

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
        place: Place,
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
            Machine::Session(sessions) => sessions.advance(watermark, results),
        }
    }

    /// Closes all windows, at the end of the stream.
    pub(crate) fn end(&mut self, aggregate: &A, closing: &mut i64, results: &mut Results<K, T, A::Value>) {
        match self {
            Machine::Count(count) => count.end(aggregate, results),
            Machine::Time(times) => times.advance(i64::MAX, aggregate, closing, results),
            Machine::Session(sessions) => sessions.advance(i64::MAX, results),
        }
    }
}
