//! How the indices of a record are dealt to the views of one side.

use std::fmt::Debug;

/// The rule itself. It is private, so the three ways below are the only ones.
pub(super) mod sealed {
    /// Which indices a view owns.
    pub trait Rule: Copy + Send + Sync + 'static {
        /// Whether views claim ranges on demand. The other methods are not called then.
        const TICKETS: bool;
        /// Whether each index belongs to exactly one view.
        const OWNS: bool;

        /// How many views the side has.
        fn views(&self) -> usize;

        /// The first index of view `id` that is `index` or higher.
        fn own(&self, id: usize, index: u64) -> u64;

        /// The end of the run of indices of view `id` that contains `index`.
        fn run_end(&self, id: usize, index: u64) -> u64;
    }
}

/// A way to deal indices: [`All`], [`Dealt`] or [`Tickets`].
pub trait Deal: sealed::Rule + Debug {}

/// A way to deal indices to writers: each index has one writer.
pub trait WriteDeal: Deal {}

/// A way to deal indices to readers of `T`.
pub trait ReadDeal<T>: Deal {}

/// A way to deal indices where each index has exactly one reader. That reader may take the item.
pub trait Owning: Deal {}

/// Every reader sees every item, by reference (broadcast).
#[derive(Debug, Clone, Copy)]
pub struct All {
    views: usize,
}

impl All {
    /// Deals to `views` readers.
    ///
    /// # Panics
    /// If `views` is 0.
    pub fn of(views: usize) -> Self {
        assert!(views > 0, "a side needs at least 1 view, not 0");
        Self { views }
    }
}

/// Indices are dealt by stride: view *k* of *n*, with bursts of *b* indices, owns the ranges `k*b + j*n*b ..
/// (k+1)*b + j*n*b` for *j* = 0, 1, 2 and so on. The index of an item alone determines its view.
#[derive(Debug, Clone, Copy)]
pub struct Dealt {
    views: usize,
    burst: u64,
}

impl Dealt {
    /// Deals every index to one view.
    pub fn one() -> Self {
        Self { views: 1, burst: 1 }
    }

    /// Deals to `views` views in turn, `burst` indices at a time.
    ///
    /// # Panics
    /// If `views` or `burst` is 0, or if their product is above 2^48.
    pub fn of(views: usize, burst: usize) -> Self {
        assert!(views > 0 && burst > 0, "a side needs at least 1 view, and a burst at least 1 index");
        assert!(
            views.checked_mul(burst).is_some_and(|stride| stride as u64 <= 1 << 48),
            "`views` times `burst` must not exceed 2^48"
        );
        Self { views, burst: burst as u64 }
    }
}

/// Views claim the next range of indices whenever they want one (on demand), so faster views do more.
#[derive(Debug, Clone, Copy)]
pub struct Tickets {
    views: usize,
}

impl Tickets {
    /// Deals to `views` views.
    ///
    /// # Panics
    /// If `views` is 0.
    pub fn of(views: usize) -> Self {
        assert!(views > 0, "a side needs at least 1 view, not 0");
        Self { views }
    }
}

impl sealed::Rule for All {
    const TICKETS: bool = false;
    const OWNS: bool = false;

    fn views(&self) -> usize {
        self.views
    }

    #[inline]
    fn own(&self, _: usize, index: u64) -> u64 {
        index
    }

    #[inline]
    fn run_end(&self, _: usize, _: u64) -> u64 {
        u64::MAX
    }
}

impl sealed::Rule for Dealt {
    const TICKETS: bool = false;
    const OWNS: bool = true;

    fn views(&self) -> usize {
        self.views
    }

    #[inline]
    fn own(&self, id: usize, index: u64) -> u64 {
        let (round, turn) = (index / self.burst / self.views as u64, index / self.burst % self.views as u64);
        let first = |round: u64| (round * self.views as u64 + id as u64) * self.burst;
        match turn.cmp(&(id as u64)) {
            std::cmp::Ordering::Less => first(round),
            std::cmp::Ordering::Equal => index,
            std::cmp::Ordering::Greater => first(round + 1),
        }
    }

    #[inline]
    fn run_end(&self, _: usize, index: u64) -> u64 {
        if self.views == 1 { u64::MAX } else { index - index % self.burst + self.burst }
    }
}

impl sealed::Rule for Tickets {
    const TICKETS: bool = true;
    const OWNS: bool = true;

    fn views(&self) -> usize {
        self.views
    }

    fn own(&self, _: usize, index: u64) -> u64 {
        index
    }

    fn run_end(&self, _: usize, _: u64) -> u64 {
        u64::MAX
    }
}

impl Deal for All {}
impl Deal for Dealt {}
impl Deal for Tickets {}
impl WriteDeal for Dealt {}
impl WriteDeal for Tickets {}
// `T: Sync`, because several readers hold references to one item at the same time.
impl<T: Sync> ReadDeal<T> for All {}
impl<T> ReadDeal<T> for Dealt {}
impl<T> ReadDeal<T> for Tickets {}
impl Owning for Dealt {}
impl Owning for Tickets {}

#[cfg(test)]
mod tests {
    use super::{Dealt, sealed::Rule};

    #[test]
    fn every_index_is_dealt_to_exactly_one_view() {
        for (views, burst) in [(1, 1), (1, 5), (3, 1), (3, 4), (2, 7)] {
            let deal = Dealt::of(views, burst);
            for index in 0..100 {
                let owners: Vec<_> = (0..views).filter(|&id| deal.own(id, index) == index).collect();
                assert_eq!(owners, [index as usize / burst % views]);
                let next = deal.own((owners[0] + 1) % views, index);
                assert!(views == 1 || next == deal.run_end(owners[0], index), "the next view goes on there");
            }
        }
    }
}
