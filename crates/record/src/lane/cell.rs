//! What a slot of a lane holds.

/// The content of one slot: what became of one index of the domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<T> {
    /// A value, or a batch of them if the lane carries batches.
    Value(T),
    /// A stage has dropped the item. It still uses its index until the sink has passed it.
    Empty,
    /// The stream stops here: nothing at a later index will ever be looked at by an ordered stage. The value,
    /// if any, comes before the stop (what a batch held before its failure, the last batch of a stream).
    Stop(Option<T>, Stop),
}

/// Why a stream stops at an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The source is exhausted. Stages that keep items may give their last ones.
    End,
    /// A stage failed, panicked or broke off. The run knows which and why.
    Fail,
}

impl<T> Cell<T> {
    /// Applies `f` to the value, if there is one.
    #[inline]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Cell<U> {
        match self {
            Cell::Value(value) => Cell::Value(f(value)),
            Cell::Empty => Cell::Empty,
            Cell::Stop(value, stop) => Cell::Stop(value.map(f), stop),
        }
    }
}
