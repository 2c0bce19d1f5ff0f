//! How long indices are in a domain: from the moment at which they enter it to the moment at which they have left.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Measures;
use crate::engine::clock::Moment;

/// The number of births that are kept at once. At most as many indices of a window are measured.
const BIRTHS: u64 = 64;
/// Below this index all are measured, as far as the window allows; then one in two, from twice that on one in
/// four, and so on.
const ALL: u32 = 12;

/// Two powers of two have so many classes between them: a class is 6 % wide.
const FINE: u32 = 4;
const CLASSES: usize = 64 << FINE;

/// How long indices are in a domain, of one in 2^k. Each of those counts for 2^k.
#[derive(Debug)]
pub(crate) struct Transit {
    /// The least k, so that births do not run into each other.
    least: u32,
    births: Box<[AtomicU64]>,
    counts: Box<[AtomicU64]>,
}

/// How long indices were in a domain: a histogram.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies {
    /// The middle of each class in nanoseconds, and how many there are; only classes that have some.
    pub(crate) classes: Vec<(u64, u64)>,
}

impl Transit {
    pub(crate) fn new(window: u64) -> Self {
        let zeros = |len: usize| std::iter::repeat_with(AtomicU64::default).take(len).collect();
        let least = window.div_ceil(BIRTHS).next_power_of_two().ilog2();
        Self { least, births: zeros(BIRTHS as usize), counts: zeros(CLASSES) }
    }

    /// The k of an index.
    #[inline]
    fn step(&self, index: u64) -> u32 {
        (index | 1).ilog2().saturating_sub(ALL - 1).max(self.least)
    }

    /// The first index that is measured from `index` on.
    #[inline]
    pub(crate) fn next(&self, index: u64) -> u64 {
        let step = 1u64 << self.step(index);
        index.div_ceil(step) * step
    }

    #[inline]
    fn birth(&self, index: u64) -> &AtomicU64 {
        &self.births[((index >> self.step(index)) % BIRTHS) as usize]
    }

    /// An index that is measured enters at time `now`.
    pub(crate) fn enter(&self, index: u64, now: u64) {
        self.birth(index).store(now, Ordering::Relaxed);
    }

    /// It has left at time `now`.
    pub(crate) fn leave(&self, index: u64, now: u64) {
        let born = self.birth(index).load(Ordering::Relaxed);
        self.count(now.saturating_sub(born), 1 << self.step(index));
    }

    /// Counts `items` indices that took `nanos`.
    pub(crate) fn count(&self, nanos: u64, items: u64) {
        self.counts[class(nanos)].fetch_add(items, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Latencies {
        let counts = self.counts.iter().enumerate().map(|(at, count)| (at, count.load(Ordering::Relaxed)));
        Latencies {
            classes: counts.filter(|(_, count)| *count > 0).map(|(at, count)| (middle(at), count)).collect(),
        }
    }
}

impl Latencies {
    /// The time that a share of the indices, 0 to 1, did not exceed.
    pub(crate) fn quantile(&self, share: f64) -> Option<u64> {
        let all: u64 = self.classes.iter().map(|(_, count)| count).sum();
        let mut left = (share * all as f64).ceil().max(1.0) as u64;
        for &(nanos, count) in &self.classes {
            if left <= count {
                return Some(nanos);
            }
            left -= count;
        }
        None
    }
}

/// The class of a time: the place of its highest bit, and the bits behind that.
fn class(nanos: u64) -> usize {
    let nanos = nanos.max(1 << FINE);
    let high = nanos.ilog2();
    let fine = (nanos >> (high - FINE)) & ((1 << FINE) - 1);
    ((high << FINE) as usize) + fine as usize
}

fn middle(class: usize) -> u64 {
    let (high, fine) = ((class >> FINE) as u32, (class & ((1 << FINE) - 1)) as u64);
    let low = (1u64 << high) + (fine << (high - FINE));
    low + (1u64 << (high - FINE)) / 2
}

/// Finds the next index to measure among those that pass: `u64::MAX` where nothing is measured.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    of: Option<(Moment, Arc<Transit>)>,
    next: u64,
}

impl Mark {
    /// From `index` on, of the domain that node `opened_by` opens.
    #[inline]
    pub(crate) fn new(measures: Option<&Measures>, opened_by: usize, index: u64) -> Self {
        match measures {
            None => Self { of: None, next: u64::MAX },
            Some(measures) => Self::measured(measures, opened_by, index),
        }
    }

    #[cold]
    fn measured(measures: &Measures, opened_by: usize, index: u64) -> Self {
        let of = measures.transit(opened_by).map(|transit| (measures.began(), Arc::clone(transit)));
        let next = of.as_ref().map_or(u64::MAX, |(_, transit)| transit.next(index));
        Self { of, next }
    }

    /// Index `index` is about to enter.
    #[inline]
    pub(crate) fn enters(&mut self, index: u64) {
        if index == self.next {
            self.note(Transit::enter);
        }
    }

    /// Index `index` has left.
    #[inline]
    pub(crate) fn has_left(&mut self, index: u64) {
        if index == self.next {
            self.note(Transit::leave);
        }
    }

    #[cold]
    fn note(&mut self, note: impl Fn(&Transit, u64, u64)) {
        if let Some((began, transit)) = &self.of {
            note(transit, self.next, began.elapsed());
            self.next = transit.next(self.next + 1);
        }
    }
}

/// Watches the indices that leave one domain as they enter the next.
#[derive(Debug)]
pub(crate) struct Crossing {
    leaves: Mark,
    enters: Mark,
    /// How many have left.
    left: u64,
}

impl Crossing {
    /// From the domain that node `ends` opens to the one that node `opens` opens, if the run is reported.
    pub(crate) fn new(measures: Option<&Measures>, ends: usize, opens: usize) -> Option<Self> {
        let mark = |opened_by| Mark::new(measures, opened_by, 0);
        measures.is_some().then(|| Self { leaves: mark(ends), enters: mark(opens), left: 0 })
    }

    /// One has left, and enters with `index`.
    pub(crate) fn next(&mut self, index: u64) {
        self.has_left();
        self.enters.enters(index);
    }

    /// One has left.
    pub(crate) fn has_left(&mut self) {
        self.leaves.has_left(self.left);
        self.left += 1;
    }

    /// One enters with `index`.
    pub(crate) fn enters(&mut self, index: u64) {
        self.enters.enters(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_index_counts_as_much_as_another() {
        for window in [1, 64, 256, 4_096, 100_000] {
            let transit = Transit::new(window);
            let (mut index, mut counted, mut measured) = (transit.next(0), 0, 0);
            while index < 1 << 20 {
                counted += 1u64 << transit.step(index);
                measured += 1;
                index = transit.next(index + 1);
            }
            assert_eq!(counted, 1 << 20, "window {window}");
            assert!(measured <= 20_480, "window {window}: {measured}");
        }
    }

    #[test]
    fn births_in_one_window_do_not_run_into_each_other() {
        for window in [1u64, 100, 256, 257, 4_096] {
            let transit = Transit::new(window);
            for from in (0..200_000).step_by(997) {
                let (mut index, mut places) = (transit.next(from), Vec::new());
                while index < from + window {
                    places.push(std::ptr::from_ref(transit.birth(index)));
                    index = transit.next(index + 1);
                }
                let all = places.len();
                places.sort();
                places.dedup();
                assert_eq!(places.len(), all, "window {window} from {from}");
            }
        }
    }

    #[test]
    fn a_time_is_near_the_middle_of_its_class() {
        for nanos in
            (0..60).flat_map(|bits| [1u64 << bits, (1 << bits) + (1 << bits) / 3]).filter(|&n| n >= 64)
        {
            let error = middle(class(nanos)).abs_diff(nanos) as f64 / nanos as f64;
            assert!(error <= 1.0 / 32.0 + 1e-9, "{nanos}: {error}");
        }
        assert!(class(u64::MAX) < CLASSES);
    }

    #[test]
    fn quantiles_are_where_they_should_be() {
        let transit = Transit::new(1);
        for microseconds in 1..=1_000 {
            transit.count(microseconds * 1_000, 1);
        }
        let latencies = transit.read();
        for share in [0.5, 0.95, 0.99] {
            let found = latencies.quantile(share).unwrap() as f64;
            assert!((found / (share * 1e6) - 1.0).abs() < 0.04, "{share}: {found}");
        }
        assert_eq!(Latencies::default().quantile(0.5), None);
    }
}
