//! Serial stages that hold items back: what comes out depends on the items around.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use crate::engine::{Flow, Serial};

/// A serial stage that gathers neighbours with the same key.
pub(crate) struct ChunkBy<K, T, F> {
    pub(crate) key: F,
    pub(crate) open: Option<(K, Vec<T>)>,
}

impl<T, K, F, E> Serial<T, E> for ChunkBy<K, T, F>
where
    T: Send,
    K: PartialEq + Send,
    F: FnMut(&T) -> K + Send,
{
    type Out = (K, Vec<T>);

    fn call(&mut self, item: T, give: &mut impl FnMut(Self::Out)) -> Flow<E> {
        let key = (self.key)(&item);
        match &mut self.open {
            Some((open, items)) if *open == key => items.push(item),
            open => {
                if let Some(group) = open.replace((key, vec![item])) {
                    give(group);
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self, give: &mut impl FnMut(Self::Out)) -> Flow<E> {
        self.open.take().into_iter().for_each(give);
        ControlFlow::Continue(())
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

/// A serial stage that sorts: it holds `window` items back, and gives the least of them for each that comes.
pub(crate) struct SortedWithin<K, T, F> {
    key: F,
    window: usize,
    held: BinaryHeap<Held<K, T>>,
    next: u64,
}

impl<K: Ord, T, F> SortedWithin<K, T, F> {
    pub(crate) fn new(window: usize, key: F) -> Self {
        Self { key, window, held: BinaryHeap::new(), next: 0 }
    }
}

impl<T, K, F, E> Serial<T, E> for SortedWithin<K, T, F>
where
    T: Send,
    K: Ord + Send,
    F: FnMut(&T) -> K + Send,
{
    type Out = T;

    fn call(&mut self, item: T, give: &mut impl FnMut(T)) -> Flow<E> {
        let key = (self.key)(&item);
        self.held.push(Held { key, number: self.next, item });
        self.next += 1;
        if self.held.len() > self.window
            && let Some(least) = self.held.pop()
        {
            give(least.item);
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self, give: &mut impl FnMut(T)) -> Flow<E> {
        // The greatest comes out first, so the last of this order.
        let rest = std::mem::take(&mut self.held).into_sorted_vec();
        rest.into_iter().rev().for_each(|held| give(held.item));
        ControlFlow::Continue(())
    }
}

/// A serial stage that gives the items of an iterator behind or between its own.
pub(crate) struct With<I> {
    pub(crate) other: Option<I>,
    /// One of the other's items follows each of its own.
    pub(crate) alternates: bool,
}

impl<T: Send, E, I: Iterator<Item = T> + Send> Serial<T, E> for With<I> {
    type Out = Strand<T, I>;

    fn call(&mut self, item: T, give: &mut impl FnMut(Self::Out)) -> Flow<E> {
        let second = if self.alternates { self.other.as_mut().and_then(Iterator::next) } else { None };
        if self.alternates && second.is_none() {
            // The other has ended, even if it would go on.
            self.other = None;
        }
        give(Strand { first: Some(item), second, rest: None });
        ControlFlow::Continue(())
    }

    fn finish(&mut self, give: &mut impl FnMut(Self::Out)) -> Flow<E> {
        give(Strand { first: None, second: None, rest: self.other.take() });
        ControlFlow::Continue(())
    }
}

/// What [`With`] gives for one item, or at the end.
pub(crate) struct Strand<T, I> {
    first: Option<T>,
    second: Option<T>,
    rest: Option<I>,
}

impl<T, I: Iterator<Item = T>> Iterator for Strand<T, I> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.first.take().or_else(|| self.second.take()).or_else(|| self.rest.as_mut()?.next())
    }
}
