//! Streams from iterators: `use anabranch::prelude::*;`.
//!
//! ```
//! use anabranch::prelude::*;
//!
//! let lengths: Vec<usize> = ["never", "odd", "or", "even"].iter().stream().map(|word| word.len()).collect();
//! assert_eq!(lengths, [5, 3, 2, 4]);
//!
//! let mut squares = (1u64..).par_map_ordered(|n| n * n); // endless, and again an iterator
//! assert_eq!(squares.find(|square| square % 10 == 6), Some(16));
//! ```

use crate::iter::Items;
use crate::shape::Single;
use crate::unit::Identity;

pub use crate::Stream;

/// Turns iterators, and everything that converts into one, into streams.
pub trait IntoStream: IntoIterator + Sized {
    /// Creates a stream of the iterator's items: [`Stream::from_iter`].
    fn stream<'env>(self) -> Stream<'env, Identity<Self::Item, Single>>
    where
        Self::Item: Send + 'env,
        Self::IntoIter: Send + 'env,
    {
        Stream::from_iter(self)
    }

    /// Applies `f` to each item, for several items at once, and returns an iterator of the results in order.
    ///
    /// The stream runs on threads of its own and some items ahead of the iterator. [`Items`] says what
    /// happens when the iterator is dropped, and where a panic of `f` appears.
    ///
    /// The iterator and `f` must be `'static`. If they borrow, use
    /// [`stream`](Self::stream)`().map(f).`[`with_iter`](Stream::with_iter) instead.
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
