//! Iterators as streams: `use anabranch::prelude::*;`.
//!
//! ```
//! use anabranch::prelude::*;
//!
//! let lengths: Vec<usize> = ["never", "odd", "or", "even"].iter().stream().map(|word| word.len()).collect();
//! assert_eq!(lengths, [5, 3, 2, 4]);
//!
//! let mut squares = (1u64..).par_map_ordered(|n| n * n); // endless, and an iterator again
//! assert_eq!(squares.find(|square| square % 10 == 6), Some(16));
//! ```

use crate::iter::Items;
use crate::shape::Single;
use crate::unit::Identity;

pub use crate::Stream;

/// Iterators, and what can be turned into one, as streams.
pub trait IntoStream: IntoIterator + Sized {
    /// A stream of what the iterator gives: [`Stream::from_iter`].
    fn stream<'env>(self) -> Stream<'env, Identity<Self::Item, Single>>
    where
        Self::Item: Send + 'env,
        Self::IntoIter: Send + 'env,
    {
        Stream::from_iter(self)
    }

    /// The iterator of what `f` makes of each item, in order; `f` runs for several items at once, on threads of its
    /// own, and some items ahead: [`Items`] says what dropping it does, and where a panic of `f` goes.
    ///
    /// What it uses it must own, since it can be kept: where it borrows, use
    /// [`stream`](Self::stream)`().map(f).`[`with_iter`](Stream::with_iter).
    fn par_map_ordered<U, F>(self, f: F) -> Items<U>
    where
        Self::Item: Send + 'static,
        Self::IntoIter: Send + 'static,
        U: Send + 'static,
        F: Fn(Self::Item) -> U + Send + Sync + 'static,
    {
        Stream::from_iter(self).map(f).into_iter()
    }
}

impl<I: IntoIterator> IntoStream for I {}
