//! Windows by count.

use super::aggregate::{Aggregate, Stretch};
use super::keys::{Hashed, Keys};
use super::layout::common_divisor;
use super::results::{Closed, ItemPlace, Results};

/// The windows by count of several keys.
pub(crate) struct Count<K, T, A: Aggregate<T>> {
    size: i64,
    step: i64,
    /// The length of the stretches of which windows consist.
    stretch: i64,
    keys: Keys<K, OfKey<T, A>>,
}

/// The windows of one key.
struct OfKey<T, A: Aggregate<T>> {
    /// How many items have come.
    seen: i64,
    /// How many items are in windows that have come out, or in the gaps before them.
    covered: i64,
    /// The number of the item with which the next window begins.
    next: i64,
    /// The items of the stretch that is open.
    open: Option<A::Value>,
    /// The stretches that are whole, from the one with which the next window begins.
    whole: A::Queue,
    /// The number of the last item among those of all keys.
    last: u64,
}

impl<T, A: Aggregate<T>> OfKey<T, A> {
    fn new() -> Self {
        Self { seen: 0, covered: 0, next: 0, open: None, whole: A::Queue::default(), last: 0 }
    }

    /// Closes the window that begins at `next` and ends here. Returns its start and its value.
    fn close(&mut self, step: i64, aggregate: &A) -> Option<(i64, A::Value)> {
        let start = self.next;
        let before = aggregate.total(&self.whole).map(|(_, value)| value);
        let value = match (before, self.open.take()) {
            (Some(before), Some(open)) => Some(aggregate.combine(before, open)),
            (before, open) => before.or(open),
        };
        self.next = start.saturating_add(step);
        self.covered = self.seen;
        while A::front(&self.whole).is_some_and(|first| first < self.next) {
            aggregate.pop(&mut self.whole);
        }
        value.map(|value| (start, value))
    }
}

impl<K: Eq + Clone, T, A: Aggregate<T>> Count<K, T, A> {
    pub(super) fn new(size: i64, step: i64) -> Self {
        Self { size, step, stretch: common_divisor(size, step), keys: Keys::default() }
    }

    #[inline]
    pub(super) fn add(
        &mut self,
        place: ItemPlace,
        key: Hashed<K>,
        item: T,
        aggregate: &A,
        results: &mut Results<K, T, A::Value>,
    ) {
        let Self { size, step, stretch, keys } = self;
        let of_key = match keys.get_mut(&key) {
            Some(of_key) => of_key,
            None => keys.entry(key.clone()).or_insert_with(OfKey::new),
        };
        let number = of_key.seen;
        of_key.seen += 1;
        if number < of_key.next {
            return; // in the gap between two windows
        }
        of_key.last = place.order;
        aggregate.add(&mut of_key.open, item);
        let is_complete = of_key.seen - of_key.next == *size;
        // A window of one stretch needs no queue.
        if stretch != size
            && of_key.seen % *stretch == 0
            && let Some(value) = of_key.open.take()
        {
            aggregate.push(&mut of_key.whole, Stretch { start: of_key.seen - *stretch, first: 0, value });
        }
        if is_complete && let Some((start, value)) = of_key.close(*step, aggregate) {
            let (rank, end) = ((place.order as i64, 0), start + *size);
            results.closed.push(Closed { rank, start, end, key: key.key, value });
        }
    }

    pub(super) fn end(&mut self, aggregate: &A, results: &mut Results<K, T, A::Value>) {
        for (key, mut of_key) in self.keys.drain() {
            let (rank, end) = ((of_key.last as i64, 0), of_key.seen);
            if end > of_key.covered
                && end > of_key.next
                && let Some((start, value)) = of_key.close(self.step, aggregate)
            {
                results.closed.push(Closed { rank, start, end, key: key.key, value });
            }
        }
    }
}
