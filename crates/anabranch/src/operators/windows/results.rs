//! Results of windows: windows that have closed, items that came too late, and failures.

use super::layout::Rank;
use crate::engine::KeptPanic;

/// When an item came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemPlace {
    /// The number of the item among all items of the stream.
    pub(crate) order: u64,
    pub(crate) time: i64,
    /// The watermark of the items before it.
    pub(crate) watermark: i64,
}

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

/// The results of the windows of one shard.
pub(crate) struct Results<K, T, V> {
    pub(crate) closed: Vec<Closed<K, V>>,
    pub(crate) late: Vec<Late<T>>,
}

impl<K, T, V> Default for Results<K, T, V> {
    fn default() -> Self {
        Self { closed: Vec::new(), late: Vec::new() }
    }
}

/// A panic of the user's code.
pub(crate) struct Failure {
    /// The results before this rank come out before the panic goes on.
    pub(crate) rank: Rank,
    /// The number of the item, or the greatest number if no item was added.
    pub(crate) order: u64,
    pub(crate) payload: KeptPanic,
}

impl Failure {
    /// The one of two failures that the loop would have met first.
    pub(crate) fn earlier(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => {
                Some(if (one.rank, one.order) <= (other.rank, other.order) { one } else { other })
            }
            (one, other) => one.or(other),
        }
    }
}
