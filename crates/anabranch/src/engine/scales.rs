//! Weighing what a source gives: a window in bytes.

use std::collections::VecDeque;

/// Says how many bytes an item stands for, and how many may be in flight.
pub(crate) struct Weigher<'env, T> {
    /// The source is not asked while so many bytes or more are in flight: 1 to 2^63.
    pub(crate) limit: u64,
    /// Once they are, it is not asked before fewer than these are: at most `limit`. Fewer save a source that sleeps
    /// meanwhile many a waking.
    pub(crate) resume: u64,
    pub(crate) weigh: Box<dyn Fn(&T) -> u64 + Send + 'env>,
}

/// The bytes in flight of one source.
pub(super) struct Scales<'env, T> {
    weigher: Weigher<'env, T>,
    /// All bytes that were given, and those of them that were released, modulo 2^64.
    given: u64,
    released: u64,
    /// For each index in flight, one past it and the bytes that were given with it.
    ends: VecDeque<(u64, u64)>,
    /// The last result of `gate`.
    gate: u64,
}

impl<'env, T> Scales<'env, T> {
    pub(super) fn new(weigher: Weigher<'env, T>) -> Self {
        Self { weigher, given: 0, released: 0, ends: VecDeque::new(), gate: 0 }
    }

    /// Counts the item that is about to be put at `index`.
    pub(super) fn put(&mut self, index: u64, item: &T) {
        // An item of the limit fills the window, and so does a heavier one. So less than twice the limit is ever in
        // flight, and the sums may wrap.
        let weight = (self.weigher.weigh)(item).min(self.weigher.limit);
        self.given = self.given.wrapping_add(weight);
        self.ends.push_back((index + 1, self.given));
    }

    /// Where all indices below `released` are given back: how many must be for the source to be asked again. That
    /// is no more than `released` if it may be asked now.
    pub(super) fn gate(&mut self, released: u64) -> u64 {
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
            // Once everything is released there is room for an item of any weight.
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
        let weigher = Weigher { limit: 10, resume: 4, weigh: Box::new(|&weight: &u64| weight) };
        let mut scales = Scales::new(weigher);
        for index in 0..5 {
            assert_eq!(scales.gate(0), 0, "{index}");
            scales.put(index, &2);
        }
        // Ten are in flight. Fewer than four are once four of the five items are gone.
        assert_eq!(scales.gate(0), 4);
        assert_eq!(scales.gate(3), 4);
        assert_eq!(scales.gate(4), 4);
        scales.put(5, &2);
        assert_eq!(scales.gate(4), 4);
    }
}
