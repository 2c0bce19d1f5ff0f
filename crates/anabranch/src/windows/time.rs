//! Windows by time.

use std::collections::BTreeMap;

use super::aggregate::{Aggregate, Stretch};
use super::groups::{Group, Groups};
use super::keys::{Hashed, Keys};
use super::layout::common_divisor;
use super::results::{Closed, ItemPlace, Late, Results};

/// The items of one stretch: for each key the number of its first item, and the value of all.
type OfStretch<K, V> = Groups<K, Option<V>>;

/// The windows by time of several keys.
///
/// A window consists of one or several *stretches*, each as long as the greatest common divisor of the windows' length and
/// step. Items are added to the stretch of their time. When the first window closes to which a stretch belongs, the stretch
/// is complete, because later items would be late.
pub(crate) struct Times<K, T, A: Aggregate<T>> {
    length: i64,
    step: i64,
    stretch: i64,
    /// The stretch of the last item.
    last: Option<At>,
    /// The stretches to which items may be added, by their starts.
    open: BTreeMap<i64, OfStretch<K, A::Value>>,
    /// For each key, the stretches that are complete and belong to a window that is open.
    whole: Keys<K, A::Queue>,
    /// The end of the first window to which the stretches in `whole` belong.
    next_end: i64,
    /// Empty maps, whose memory is used again.
    spare: Vec<OfStretch<K, A::Value>>,
}

/// A stretch of time, from `start` to and without `end`.
#[derive(Clone, Copy)]
struct At {
    start: i64,
    end: i64,
    /// The end of the first window that has the stretch. `None` if none has it.
    closes: Option<i64>,
}

/// How many empty maps are kept.
const SPARE_MAPS: usize = 2;

impl<K: Eq + Clone, T, A: Aggregate<T>> Times<K, T, A> {
    pub(super) fn new(length: i64, step: i64) -> Self {
        let stretch = common_divisor(length, step);
        let (open, whole, spare) = (BTreeMap::new(), Keys::default(), Vec::new());
        Self { length, step, stretch, last: None, open, whole, next_end: i64::MIN, spare }
    }

    /// The stretch of `time`.
    #[inline]
    fn at(&mut self, time: i64) -> At {
        match self.last {
            Some(at) if at.start <= time && time < at.end => at,
            _ => *self.last.insert(self.find(time)),
        }
    }

    #[cold]
    fn find(&self, time: i64) -> At {
        let stretch = i128::from(self.stretch);
        let start = i128::from(time).div_euclid(stretch) * stretch;
        let (length, step) = (i128::from(self.length), i128::from(self.step));
        let window = ((start - length).div_euclid(step) + 1) * step;
        let closes = (window <= start).then(|| clamped(window + length));
        At { start: clamped(start), end: clamped(start + stretch), closes }
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
        let at = self.at(place.time);
        let Some(closes) = at.closes else { return };
        if closes <= place.watermark {
            let rank = (place.watermark.saturating_add(1), 0);
            results.late.push(Late { order: place.order, rank, item });
            return;
        }
        let mut item = Some(item);
        let of_stretch = self.of_stretch(at.start);
        let found =
            of_stretch.get_or_insert(key, || (place.order, item.take().map(|item| aggregate.lift(item))));
        if let (Some(group), Some(item)) = (found, item) {
            aggregate.add(&mut group.value, item);
        }
    }

    /// Reads what adding items with keys of these hashes will read, if they belong to the newest stretch.
    pub(super) fn warm(&self, hashes: impl Iterator<Item = u64>) -> u64 {
        self.open.last_key_value().map_or(0, |(_, of_stretch)| of_stretch.warm(hashes))
    }

    /// The items of the open stretch that begins at `start`.
    #[inline]
    fn of_stretch(&mut self, start: i64) -> &mut OfStretch<K, A::Value> {
        let Self { open, spare, .. } = self;
        open.entry(start).or_insert_with(|| spare.pop().unwrap_or_default())
    }

    pub(super) fn advance(
        &mut self,
        watermark: i64,
        aggregate: &A,
        closing: &mut i64,
        results: &mut Results<K, T, A::Value>,
    ) {
        loop {
            let end = match self.open.first_key_value() {
                _ if !self.whole.is_empty() => self.next_end,
                Some((&start, _)) => self.find(start).closes.unwrap_or(i64::MAX),
                None => return,
            };
            if end > watermark {
                return;
            }
            *closing = end;
            self.close(end, aggregate, results);
        }
    }

    /// Closes the window that ends at `end`.
    fn close(&mut self, end: i64, aggregate: &A, results: &mut Results<K, T, A::Value>) {
        let start = clamped(i128::from(end) - i128::from(self.length));
        while let Some(entry) = self.open.first_entry()
            && (*entry.key() < end || end == i64::MAX)
        {
            let (at, mut of_stretch) = entry.remove_entry();
            if self.stretch == self.length {
                // A window of one stretch needs no queue.
                results.closed.reserve(of_stretch.len());
                results.closed.extend(of_stretch.drain().filter_map(|Group { key, first, value }| {
                    Some(Closed { rank: (end, first), start, end, key: key.key, value: value? })
                }));
            } else {
                for Group { key, first, value } in of_stretch.drain() {
                    if let Some(value) = value {
                        let queue = self.whole.entry(key).or_default();
                        aggregate.push(queue, Stretch { start: at, first, value });
                    }
                }
            }
            if self.spare.len() < SPARE_MAPS {
                self.spare.push(of_stretch);
            }
        }
        let next_start = clamped(i128::from(start) + i128::from(self.step));
        self.next_end = clamped(i128::from(end) + i128::from(self.step));
        self.whole.retain(|key, queue| {
            if let Some((first, value)) = aggregate.total(queue) {
                let key = key.key.clone();
                results.closed.push(Closed { rank: (end, first), start, end, key, value });
            }
            while A::front(queue).is_some_and(|front| front < next_start || end == i64::MAX) {
                aggregate.pop(queue);
            }
            A::front(queue).is_some()
        });
    }
}

/// The nearest `i64`.
fn clamped(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
