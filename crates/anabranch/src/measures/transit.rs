//! How long indices are in a domain, from the moment at which they enter it to the moment at which they leave
//! it.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of moments of entry that are kept at once. So at most this many indices of a window are
/// measured.
const ENTRIES: u64 = 64;
/// Every index below 2^12 is measured, as far as the window allows. From there on one of two indices is
/// measured, from twice that index on one of four, and so on.
const EVERY_INDEX_BITS: u32 = 12;

/// The histogram has 2^4 classes between two powers of two, so a class is 6 % wide.
const CLASS_BITS: u32 = 4;
/// The number of classes of the histogram.
const CLASSES: usize = 64 << CLASS_BITS;

/// Measures how long indices are in a domain. One of 2^k indices is measured, and counts for 2^k. The number
/// k grows with the index.
#[derive(Debug)]
pub(crate) struct Transit {
    /// The smallest k. It is chosen so that two indices of one window do not share a moment of entry.
    least: u32,
    /// The moments of entry, in nanoseconds since the run began.
    entries: Box<[AtomicU64]>,
    /// The number of indices in each class.
    counts: Box<[AtomicU64]>,
}

/// A histogram of how long indices were in a domain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies {
    /// For each class that is not empty: its middle in nanoseconds, and the number of indices in it.
    pub(crate) classes: Vec<(u64, u64)>,
}

impl Transit {
    pub(crate) fn new(window: u64) -> Self {
        let zeros = |len: usize| std::iter::repeat_with(AtomicU64::default).take(len).collect();
        let least = window.div_ceil(ENTRIES).next_power_of_two().ilog2();
        Self { least, entries: zeros(ENTRIES as usize), counts: zeros(CLASSES) }
    }

    /// The number k of an index: one of 2^k indices is measured there.
    #[inline]
    fn step(&self, index: u64) -> u32 {
        (index | 1).ilog2().saturating_sub(EVERY_INDEX_BITS - 1).max(self.least)
    }

    /// The next index to measure, which is `index` or a later one.
    #[inline]
    pub(crate) fn next(&self, index: u64) -> u64 {
        let step = 1u64 << self.step(index);
        index.div_ceil(step) * step
    }

    #[inline]
    fn entry(&self, index: u64) -> &AtomicU64 {
        &self.entries[((index >> self.step(index)) % ENTRIES) as usize]
    }

    /// Notes that a measured index enters at time `now`.
    pub(crate) fn enter(&self, index: u64, now: u64) {
        self.entry(index).store(now, Ordering::Relaxed);
    }

    /// Notes that a measured index leaves at time `now`.
    pub(crate) fn leave(&self, index: u64, now: u64) {
        let entered = self.entry(index).load(Ordering::Relaxed);
        self.count(now.saturating_sub(entered), 1 << self.step(index));
    }

    /// Counts `items` indices that were in the domain for `nanos` nanoseconds.
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
    /// The time in nanoseconds that a share of the indices, 0 to 1, did not exceed. `None` if there are no
    /// indices.
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

/// The class of a time. It is made of the position of the time's highest bit, and of the [`CLASS_BITS`] bits
/// below it.
fn class(nanos: u64) -> usize {
    let nanos = nanos.max(1 << CLASS_BITS);
    let high = nanos.ilog2();
    let fine = (nanos >> (high - CLASS_BITS)) & ((1 << CLASS_BITS) - 1);
    ((high << CLASS_BITS) as usize) + fine as usize
}

/// The middle of a class, in nanoseconds.
fn middle(class: usize) -> u64 {
    let (high, fine) = ((class >> CLASS_BITS) as u32, (class & ((1 << CLASS_BITS) - 1)) as u64);
    let low = (1u64 << high) + (fine << (high - CLASS_BITS));
    low + (1u64 << (high - CLASS_BITS)) / 2
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
    fn indices_in_one_window_do_not_share_a_moment_of_entry() {
        for window in [1u64, 100, 256, 257, 4_096] {
            let transit = Transit::new(window);
            for from in (0..200_000).step_by(997) {
                let (mut index, mut places) = (transit.next(from), Vec::new());
                while index < from + window {
                    places.push(std::ptr::from_ref(transit.entry(index)));
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
