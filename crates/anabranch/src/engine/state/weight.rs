//! Weighs what a source gives. For a window in bytes, the weight of an item is its size in bytes. The weight of a block is its
//! number of items.

use std::collections::VecDeque;

use anabranch_record::lane::Cell;

/// The weight of an item, and the weight that may be in flight.
pub(crate) struct Weigher<'env, T> {
    /// The window as a weight, 1 to 2^63. While this weight or more is in flight, the source is not asked.
    pub(crate) limit: u64,
    /// After the window was full, the source is asked again when less than this weight is in flight. At most `limit`.
    /// With a lower value, a source that sleeps while the window is full is woken less often.
    pub(crate) resume: u64,
    /// Returns the weight of a cell.
    pub(crate) weigh: Weigh<'env, T>,
}

impl<'env, T> Weigher<'env, T> {
    /// Weighs items by `weigh`, with room for `bytes` bytes of them.
    ///
    /// # Panics
    /// If `bytes` is 0.
    #[track_caller]
    pub(crate) fn of_items(bytes: u64, weigh: impl Fn(&T) -> u64 + Send + 'env) -> Self {
        assert!(bytes > 0, "`window_bytes(0, ..)`: a window is 1 byte or more");
        let limit = bytes.min(1 << 63);
        let weigh = Box::new(move |cell: &Cell<T>| cell.items().map(&weigh).fold(0, u64::saturating_add));
        Self { limit, resume: limit, weigh }
    }
}

/// Returns the weight of a cell.
type Weigh<'env, T> = Box<dyn Fn(&Cell<T>) -> u64 + Send + 'env>;

/// The weight in flight of one source.
pub(crate) struct WeightInFlight<'env, T> {
    weigher: Weigher<'env, T>,
    /// The weight of all items that the source gave, modulo 2^64.
    given: u64,
    /// The weight of the items whose indices were given back, modulo 2^64.
    released: u64,
    /// For each index in flight: the index + 1, and the value of `given` after its item.
    ends: VecDeque<(u64, u64)>,
    /// The last result of `gate`.
    gate: u64,
}

impl<'env, T> WeightInFlight<'env, T> {
    pub(crate) fn new(weigher: Weigher<'env, T>) -> Self {
        Self { weigher, given: 0, released: 0, ends: VecDeque::new(), gate: 0 }
    }

    /// How much weight may still be given until the window is full.
    pub(crate) fn left(&self) -> u64 {
        self.weigher.limit.saturating_sub(self.given.wrapping_sub(self.released))
    }

    /// Adds the items that are about to be put at `index`.
    pub(crate) fn put(&mut self, index: u64, cell: &Cell<T>) {
        // An item that is heavier than the limit fills the window, just as an item of the limit does. So less
        // than twice the limit is in flight at any time, and the sums may wrap.
        let weight = (self.weigher.weigh)(cell).min(self.weigher.limit);
        self.given = self.given.wrapping_add(weight);
        self.ends.push_back((index + 1, self.given));
    }

    /// How many indices must have been given back before the source is asked again, if all indices below
    /// `released` were given back so far. The result is `released` or less if the source may be asked now.
    pub(crate) fn gate(&mut self, released: u64) -> u64 {
        if released < self.gate {
            return self.gate;
        }
        while let Some(&(end, given)) = self.ends.front()
            && end <= released
        {
            self.released = given;
            self.ends.pop_front();
        }
        let in_flight = |gone: u64| self.given.wrapping_sub(gone);
        self.gate = if in_flight(self.released) < self.weigher.limit {
            released
        } else {
            // When every index has been given back, there is room for an item of any weight.
            let first = self.ends.partition_point(|&(_, gone)| in_flight(gone) >= self.weigher.resume);
            self.ends.get(first).map_or(released, |&(end, _)| end)
        };
        self.gate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_source_is_asked_again_at_the_weight_it_resumes_at() {
        let weigher = Weigher { limit: 10, resume: 4, weigh: Box::new(|cell| cell.items().sum()) };
        let mut weight = WeightInFlight::new(weigher);
        for index in 0..5 {
            assert_eq!(weight.gate(0), 0, "{index}");
            weight.put(index, &Cell::Value(2));
        }
        // 10 bytes are in flight. Fewer than 4 are in flight when 4 of the 5 items have been given back.
        assert_eq!(weight.gate(0), 4);
        assert_eq!(weight.gate(3), 4);
        assert_eq!(weight.gate(4), 4);
        weight.put(5, &Cell::Value(2));
        assert_eq!(weight.gate(4), 4);
    }
}
