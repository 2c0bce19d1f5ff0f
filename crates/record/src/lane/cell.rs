//! The content of a lane's slot.

/// The content of a slot: the result for one index of the domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<T> {
    /// A value, or a batch of values if the lane carries batches.
    Value(T),
    /// A stage has dropped the item. Its index counts in the window until the sink has passed it.
    Empty,
    /// The stream stops at this index, and no ordered stage will look at a later one.
    ///
    /// The optional value belongs before the stop. It is what a batch held before its failure, or the last
    /// batch of the stream.
    Stop(Option<T>, Stop),
}

/// Why a stream stops at an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The source is exhausted. Stages that keep items in their state may give a last result.
    End,
    /// A stage failed, panicked or broke out of the loop. The run has recorded which one, and why.
    Fail,
}

impl<T> Cell<T> {
    /// Applies `f` to the value, if the cell has one.
    #[inline]
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Cell<U> {
        match self {
            Cell::Value(value) => Cell::Value(f(value)),
            Cell::Empty => Cell::Empty,
            Cell::Stop(value, stop) => Cell::Stop(value.map(f), stop),
        }
    }
}
