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
    open: Open<OfStretch<K, A::Value>>,
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

/// Values by the starts of stretches. The last few are beside the map: where items come nearly in order, there are no others.
struct Open<V> {
    older: BTreeMap<i64, V>,
    /// Up to [`NEWEST`] values, in order. They are behind all others.
    newest: Vec<(i64, V)>,
}

/// How many stretches are beside the map.
const NEWEST: usize = 4;

impl<V> Default for Open<V> {
    fn default() -> Self {
        Self { older: BTreeMap::new(), newest: Vec::new() }
    }
}

impl<V> Open<V> {
    #[inline]
    fn get_or_insert(&mut self, start: i64, make: impl FnOnce() -> V) -> &mut V {
        match self.newest.iter().rposition(|&(other, _)| other <= start) {
            Some(at) if self.newest[at].0 == start => &mut self.newest[at].1,
            before => self.insert(start, before.map_or(0, |before| before + 1), make),
        }
    }

    /// The value of a stretch that is not among the newest; among them, its place would be `at`.
    fn insert(&mut self, start: i64, at: usize, make: impl FnOnce() -> V) -> &mut V {
        let is_full = self.newest.len() == NEWEST;
        if at == 0 && (is_full || self.older.last_key_value().is_some_and(|(&last, _)| start <= last)) {
            return self.older.entry(start).or_insert_with(make);
        }
        self.newest.insert(at, (start, make()));
        if !is_full {
            return &mut self.newest[at].1;
        }
        let (first, value) = self.newest.remove(0);
        self.older.insert(first, value);
        &mut self.newest[at - 1].1
    }

    /// The first start.
    fn first(&self) -> Option<i64> {
        self.older.first_key_value().map(|(&start, _)| start).or(self.newest.first().map(|first| first.0))
    }

    /// Removes the first value, if `is_complete` returns true for its start.
    fn pop_first_if(&mut self, is_complete: impl Fn(i64) -> bool) -> Option<(i64, V)> {
        self.first().filter(|&start| is_complete(start))?;
        Some(self.older.pop_first().unwrap_or_else(|| self.newest.remove(0)))
    }
}

impl<K: Eq + Clone, T, A: Aggregate<T>> Times<K, T, A> {
    pub(super) fn new(length: i64, step: i64) -> Self {
        let stretch = common_divisor(length, step);
        let (open, whole, spare) = (Open::default(), Keys::default(), Vec::new());
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
        self.open.newest.last().map_or(0, |(_, of_stretch)| of_stretch.warm(hashes))
    }

    /// The items of the open stretch that begins at `start`.
    #[inline]
    fn of_stretch(&mut self, start: i64) -> &mut OfStretch<K, A::Value> {
        let Self { open, spare, .. } = self;
        open.get_or_insert(start, || spare.pop().unwrap_or_default())
    }

    pub(super) fn advance(
        &mut self,
        watermark: i64,
        aggregate: &A,
        closing: &mut i64,
        results: &mut Results<K, T, A::Value>,
    ) {
        loop {
            let end = match self.open.first() {
                _ if !self.whole.is_empty() => self.next_end,
                Some(start) => self.find(start).closes.unwrap_or(i64::MAX),
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
        let is_complete = |start: i64| start < end || end == i64::MAX;
        while let Some((at, mut of_stretch)) = self.open.pop_first_if(is_complete) {
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
