//! Sorts a stream that is nearly sorted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::convert::Infallible;

use anabranch_plan::Node;

use super::operator::{Operator, Results};
use super::spread::SpreadOnly;
use crate::stream::options::ForSerial;
use crate::stream::{Mode, Stream};

impl<'env, T: Send + 'env, M: Mode<Error: 'env>, O> Stream<'env, T, M, O> {
    /// Sorts a stream that is nearly sorted by a key, for example by the time of an event: each item is at most `window` places
    /// away from its sorted position. It holds `window` items back, which do not count in the stream's window. Items with equal
    /// keys keep their order. `key` is called once for each item.
    ///
    /// An item that is further behind comes out as soon as it has come, and so out of order.
    ///
    /// ```
    /// use anabranch::Stream;
    ///
    /// let events = Stream::from_iter([(3, "c"), (1, "a"), (2, "b"), (4, "d")]);
    /// let names = events.sorted_within_by_key(2, |event| event.0).map(|event| event.1);
    /// assert_eq!(names.collect::<String>(), "abcd");
    /// ```
    #[track_caller]
    pub fn sorted_within_by_key<K, F>(self, window: usize, key: F) -> Stream<'env, T, M>
    where
        O: ForSerial,
        K: Ord + Send + 'env,
        F: FnMut(&T) -> K + Send + 'env,
    {
        let sorted = self.operated(Node::serial("sorted_within_by_key"), SortedWithin::new(window, key));
        sorted.spreading(Node::serial("sorted_within_by_key"), SpreadOnly(None))
    }
}

/// A serial stage that sorts: it holds `window` items back, and gives the least of them for each that comes.
struct SortedWithin<K, T, F> {
    key: F,
    window: usize,
    held: BinaryHeap<Held<K, T>>,
    next: u64,
}

impl<K: Ord, T, F> SortedWithin<K, T, F> {
    fn new(window: usize, key: F) -> Self {
        Self { key, window, held: BinaryHeap::new(), next: 0 }
    }
}

impl<T, K, F> Operator<T> for SortedWithin<K, T, F>
where
    T: Send,
    K: Ord + Send,
    F: FnMut(&T) -> K + Send,
{
    type Out = T;
    type Error = Infallible;
    const GIVES_MANY: bool = false;

    fn item(&mut self, item: T, results: &mut Results<'_, T>) -> Result<(), Infallible> {
        let key = (self.key)(&item);
        self.held.push(Held { key, number: self.next, item });
        self.next += 1;
        if self.held.len() > self.window {
            results.extend(self.held.pop().map(|least| least.item));
        }
        Ok(())
    }

    fn end(&mut self, results: &mut Results<'_, T>) -> Result<(), Infallible> {
        // The greatest comes out first, so the last of this order.
        let rest = std::mem::take(&mut self.held).into_sorted_vec();
        results.extend(rest.into_iter().rev().map(|held| held.item));
        Ok(())
    }
}

/// An item with its key and its place among all items. It is greater the sooner it comes out.
struct Held<K, T> {
    key: K,
    number: u64,
    item: T,
}

impl<K: Ord, T> Ord for Held<K, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (&other.key, other.number).cmp(&(&self.key, self.number))
    }
}

impl<K: Ord, T> PartialOrd for Held<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, T> PartialEq for Held<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, T> Eq for Held<K, T> {}
