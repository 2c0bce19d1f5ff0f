//! Weighing what a source gives: a window in bytes.

use std::collections::VecDeque;

/// Says how many bytes an item stands for, and how many may be in flight.
pub(crate) struct Weigher<'env, T> {
    /// The source is not asked while so many bytes or more are in flight: 1 to 2^63.
    pub(crate) limit: u64,
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
}

impl<'env, T> Scales<'env, T> {
    pub(super) fn new(weigher: Weigher<'env, T>) -> Self {
        Self { weigher, given: 0, released: 0, ends: VecDeque::new() }
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
        while let Some(&(end, given)) = self.ends.front()
            && end <= released
        {
            self.released = given;
            self.ends.pop_front();
        }
        let is_light = |gone: u64| self.given.wrapping_sub(gone) < self.weigher.limit;
        if is_light(self.released) {
            return released;
        }
        // Once everything is released there is room for an item of any weight.
        let first = self.ends.partition_point(|&(_, gone)| !is_light(gone));
        self.ends.get(first).map_or(released, |&(end, _)| end)
    }
}
