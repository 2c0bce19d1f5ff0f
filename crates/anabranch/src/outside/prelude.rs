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

use std::iter::FusedIterator;
use std::marker::PhantomData;

use crate::outside::Items;

pub use crate::Stream;

/// Turns iterators, and everything that converts into one, into streams.
pub trait IntoStream: IntoIterator + Sized {
    /// Creates a stream of the iterator's items: [`Stream::from_iter`].
    fn stream<'env>(self) -> Stream<'env, Self::Item>
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
    ///
    /// The iterator knows its length where this one does.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut squares = (0..100u32).par_map_ordered(|n| n * n);
    /// assert_eq!(squares.next(), Some(0));
    /// assert_eq!(squares.len(), 99);
    /// ```
    fn par_map_ordered<U, F>(self, f: F) -> ParMapOrdered<Self::IntoIter, U>
    where
        Self::Item: Send + 'static,
        Self::IntoIter: Send + 'static,
        U: Send + 'static,
        F: Fn(Self::Item) -> U + Send + Sync + 'static,
    {
        let items = self.into_iter();
        let left = items.size_hint();
        ParMapOrdered { items: Stream::from_iter(items).map(f).into_iter(), left, source: PhantomData }
    }
}

/// The results of [`par_map_ordered`](IntoStream::par_map_ordered) of an iterator `I`.
#[derive(Debug)]
pub struct ParMapOrdered<I, U> {
    items: Items<U>,
    /// How many items are left: the bounds that the source told at the beginning, less those that were given.
    left: (usize, Option<usize>),
    source: PhantomData<fn() -> I>,
}

impl<I, U> Iterator for ParMapOrdered<I, U> {
    type Item = U;

    fn next(&mut self) -> Option<U> {
        let item = self.items.next()?;
        self.left = (self.left.0.saturating_sub(1), self.left.1.map(|most| most.saturating_sub(1)));
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left
    }
}

impl<I: ExactSizeIterator, U> ExactSizeIterator for ParMapOrdered<I, U> {}

impl<I, U> FusedIterator for ParMapOrdered<I, U> {}

impl<I: IntoIterator> IntoStream for I {}
