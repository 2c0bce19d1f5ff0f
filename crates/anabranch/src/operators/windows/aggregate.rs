//! Values that are computed of the items of a window.

use std::collections::VecDeque;
use std::marker::PhantomData;

/// A value that is computed of the items of a window, from left to right.
pub(crate) trait Aggregate<T>: Send + Sync {
    /// The type of the value.
    type Value: Send;
    /// Neighbouring stretches of items, and what is computed of all of them.
    type Queue: Default + Send;

    /// The value of one item.
    fn lift(&self, item: T) -> Self::Value;

    /// The value of the items of `left` and, behind them, those of `right`.
    fn combine(&self, left: Self::Value, right: Self::Value) -> Self::Value;

    /// Adds an item behind those of `value`, which is there.
    #[inline]
    fn add(&self, value: &mut Option<Self::Value>, item: T) {
        let item = self.lift(item);
        *value = Some(match value.take() {
            Some(before) => self.combine(before, item),
            None => item,
        });
    }

    /// Adds a stretch behind the others.
    fn push(&self, queue: &mut Self::Queue, stretch: Stretch<Self::Value>);

    /// The start of the first stretch.
    fn front(queue: &Self::Queue) -> Option<i64>;

    /// Removes the first stretch.
    fn pop(&self, queue: &mut Self::Queue);

    /// The value of all items, and the least `first`. `None` if there are no stretches.
    fn total(&self, queue: &Self::Queue) -> Option<(u64, Self::Value)>;
}

/// A stretch of items: a window consists of one or several.
#[derive(Debug, Clone)]
pub(crate) struct Stretch<V> {
    /// The number or the time at which it begins.
    pub(crate) start: i64,
    /// The number of its first item among all items of the stream.
    pub(crate) first: u64,
    pub(crate) value: V,
}

/// The items themselves.
pub(crate) struct Collect<T>(PhantomData<fn(T)>);

impl<T> Collect<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Clone + Send> Aggregate<T> for Collect<T> {
    type Value = Vec<T>;
    type Queue = VecDeque<Stretch<Vec<T>>>;

    fn lift(&self, item: T) -> Vec<T> {
        vec![item]
    }

    fn combine(&self, mut left: Vec<T>, right: Vec<T>) -> Vec<T> {
        left.extend(right);
        left
    }

    #[inline]
    fn add(&self, value: &mut Option<Vec<T>>, item: T) {
        value.get_or_insert_default().push(item);
    }

    fn push(&self, queue: &mut Self::Queue, stretch: Stretch<Vec<T>>) {
        queue.push_back(stretch);
    }

    fn front(queue: &Self::Queue) -> Option<i64> {
        queue.front().map(|stretch| stretch.start)
    }

    fn pop(&self, queue: &mut Self::Queue) {
        queue.pop_front();
    }

    fn total(&self, queue: &Self::Queue) -> Option<(u64, Vec<T>)> {
        let first = queue.iter().map(|stretch| stretch.first).min()?;
        let mut items = Vec::with_capacity(queue.iter().map(|stretch| stretch.value.len()).sum());
        queue.iter().for_each(|stretch| items.extend_from_slice(&stretch.value));
        Some((first, items))
    }
}

/// A value of each item, and an associative function that makes one value of two.
pub(crate) struct Combine<L, C> {
    pub(crate) lift: L,
    pub(crate) combine: C,
}

/// Stretches of which the value of all is always at hand, after two calls of `combine` a stretch at most, and one a total.
///
/// The front is a stack whose top is the first stretch: each entry has the value of its stretch and of those of the front
/// behind it. New stretches go to the back, of which the value of all is kept. When the front is used up, the back becomes
/// the front. (Tangwongsan, Hirzel, Schneider: *Low-Latency Sliding-Window Aggregation in Worst-Case Constant Time*, DEBS
/// 2017, section 3, calls it *Two-Stacks*.)
pub(crate) struct TwoStacks<V> {
    front: Vec<Stretch<V>>,
    back: Vec<Stretch<V>>,
    back_total: Option<(u64, V)>,
}

impl<V> Default for TwoStacks<V> {
    fn default() -> Self {
        Self { front: Vec::new(), back: Vec::new(), back_total: None }
    }
}

impl<T, V, L, C> Aggregate<T> for Combine<L, C>
where
    V: Clone + Send,
    L: Fn(T) -> V + Send + Sync,
    C: Fn(V, V) -> V + Send + Sync,
{
    type Value = V;
    type Queue = TwoStacks<V>;

    #[inline]
    fn lift(&self, item: T) -> V {
        (self.lift)(item)
    }

    #[inline]
    fn combine(&self, left: V, right: V) -> V {
        (self.combine)(left, right)
    }

    #[inline]
    fn push(&self, queue: &mut TwoStacks<V>, stretch: Stretch<V>) {
        let value = stretch.value.clone();
        queue.back_total = Some(match queue.back_total.take() {
            Some((first, before)) => (first.min(stretch.first), (self.combine)(before, value)),
            None => (stretch.first, value),
        });
        queue.back.push(stretch);
    }

    #[inline]
    fn front(queue: &TwoStacks<V>) -> Option<i64> {
        queue.front.last().or(queue.back.first()).map(|stretch| stretch.start)
    }

    #[inline]
    fn pop(&self, queue: &mut TwoStacks<V>) {
        if queue.front.is_empty() {
            queue.back_total = None;
            while let Some(Stretch { start, first, value }) = queue.back.pop() {
                let (first, value) = match queue.front.last() {
                    Some(behind) => (first.min(behind.first), (self.combine)(value, behind.value.clone())),
                    None => (first, value),
                };
                queue.front.push(Stretch { start, first, value });
            }
        }
        queue.front.pop();
    }

    #[inline]
    fn total(&self, queue: &TwoStacks<V>) -> Option<(u64, V)> {
        let front = queue.front.last().map(|front| (front.first, front.value.clone()));
        match (front, queue.back_total.clone()) {
            (Some((first, left)), Some((second, right))) => {
                Some((first.min(second), (self.combine)(left, right)))
            }
            (front, back) => front.or(back),
        }
    }
}
