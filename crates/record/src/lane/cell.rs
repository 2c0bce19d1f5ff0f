//! The content of a lane's slot.

/// The content of a slot: the results for one index of the domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell<T> {
    /// One value.
    Value(T),
    /// A stage has dropped the item. Its index counts in the window until the sink has passed it.
    Empty,
    /// The stream stops at this index, and no ordered stage will look at a later one.
    Stop(Stop),
    /// Several values, or values and a stop behind them. It is boxed, so that lanes of single values need no room for it.
    Batch(Box<Batch<T>>),
}

/// The values of an index that has several of them, or values and a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<T> {
    /// The values, in order.
    pub items: Vec<T>,
    /// The reason why the stream stops after the values, if it does.
    pub stop: Option<Stop>,
}

/// The reason why a stream stops at an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The source is exhausted. Stages that keep items in their state may give a last result.
    End,
    /// A stage failed, panicked or broke out of the loop. The run has recorded which one, and why.
    Fail,
}

impl<T> Cell<T> {
    /// Creates the cell of any number of values, with a stop behind them if there is one.
    #[inline]
    pub fn of(mut items: Vec<T>, stop: Option<Stop>) -> Self {
        match (items.len(), stop) {
            (0, None) => Cell::Empty,
            (0, Some(stop)) => Cell::Stop(stop),
            (1, None) => Cell::Value(items.pop().expect("there is one value")),
            _ => Cell::Batch(Box::new(Batch { items, stop })),
        }
    }

    /// Creates the cell of one value or none, with a stop behind it if there is one.
    #[inline]
    pub fn of_one(item: Option<T>, stop: Option<Stop>) -> Self {
        match (item, stop) {
            (Some(item), None) => Cell::Value(item),
            (None, None) => Cell::Empty,
            (None, Some(stop)) => Cell::Stop(stop),
            (Some(item), stop) => Cell::Batch(Box::new(Batch { items: vec![item], stop })),
        }
    }

    /// How many values the cell has.
    #[inline]
    pub fn len(&self) -> u64 {
        match self {
            Cell::Value(_) => 1,
            Cell::Empty | Cell::Stop(_) => 0,
            Cell::Batch(batch) => batch.items.len() as u64,
        }
    }

    /// Whether the cell has no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The reason why the stream stops at this index, if it does.
    #[inline]
    pub fn stop(&self) -> Option<Stop> {
        match self {
            Cell::Value(_) | Cell::Empty => None,
            Cell::Stop(stop) => Some(*stop),
            Cell::Batch(batch) => batch.stop,
        }
    }

    /// The values, in order.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        let (one, several) = match self {
            Cell::Value(item) => (Some(item), [].as_slice()),
            Cell::Empty | Cell::Stop(_) => (None, [].as_slice()),
            Cell::Batch(batch) => (None, batch.items.as_slice()),
        };
        one.into_iter().chain(several)
    }

    /// The values, in order.
    pub fn into_items(self) -> impl Iterator<Item = T> {
        let (one, several) = match self {
            Cell::Value(item) => (Some(item), Vec::new()),
            Cell::Empty | Cell::Stop(_) => (None, Vec::new()),
            Cell::Batch(batch) => (None, batch.items),
        };
        one.into_iter().chain(several)
    }

    /// The same cell with `stop` behind its values.
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> Self {
        match self {
            Cell::Empty | Cell::Stop(_) => Cell::Stop(stop),
            cell => Cell::of(cell.into_items().collect(), Some(stop)),
        }
    }

    /// The values of the cell without a stop.
    #[must_use]
    pub fn without_stop(self) -> Self {
        match self {
            Cell::Stop(_) => Cell::Empty,
            Cell::Batch(batch) => Cell::of(batch.items, None),
            cell => cell,
        }
    }
}
