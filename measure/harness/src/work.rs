//! The work of the contenders: xorshift steps, calibrated to a wanted time, and a digest that depends on the
//! order of the items.

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

/// A number of xorshift steps for each item.
///
/// Each step needs the result of the previous one. So vector instructions and the cache of another core make
/// no difference, and the work takes the same time on any thread.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    rounds: u32,
    /// Whether one item in 16 takes 8 times as long, and the others half.
    uneven: bool,
    /// How long an item took in the plain loop during calibration, in nanoseconds.
    pub nanos: f64,
}

impl Work {
    /// Calibrates work that takes `nanos` nanoseconds an item in the plain loop. 0 is no work at all.
    pub fn of(nanos: f64) -> Self {
        let mut rounds = 0;
        let with = |rounds, nanos| Self { rounds, uneven: false, nanos };
        let mut measured = with(rounds, 0.0).measure();
        if nanos > 0.0 {
            // The core overlaps the steps of neighbouring items if these are short, so calibration needs
            // several attempts.
            rounds = nanos.ceil() as u32;
            for _ in 0..4 {
                measured = with(rounds, nanos).measure();
                rounds = ((f64::from(rounds) * nanos / measured).round() as u32).max(1);
            }
            measured = with(rounds, nanos).measure();
        }
        with(rounds, measured)
    }

    /// Work that another process has calibrated.
    pub fn calibrated(rounds: u32, uneven: bool) -> Self {
        Self { rounds, uneven, nanos: 0.0 }
    }

    /// The arguments from which [`calibrated`](Self::calibrated) creates the same work.
    pub fn calibration(self) -> (u32, bool) {
        (self.rounds, self.uneven)
    }

    /// The same work on average, but one item in 16 takes 8 times as long, and the others half.
    pub fn uneven(self) -> Self {
        Self { uneven: true, nanos: self.nanos * (8.0 + 15.0 / 2.0) / 16.0, ..self }
    }

    /// Half of the work, for an item that passes two stages.
    pub fn half(self) -> Self {
        self.share(0.5)
    }

    /// `times` as much work.
    pub fn share(self, times: f64) -> Self {
        let rounds = (f64::from(self.rounds) * times).round() as u32;
        Self { rounds, nanos: self.nanos * times, ..self }
    }

    /// How many items take the plain loop this many seconds.
    pub fn items(self, seconds: f64) -> u64 {
        (seconds * 1e9 / self.nanos.max(0.5)) as u64
    }

    /// Works on one item.
    ///
    /// It is never inlined, so all contenders run the same instructions, however the rest of their code is
    /// compiled.
    #[inline(never)]
    pub fn run(self, item: u64) -> u64 {
        let mut x = item.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let rounds = match self.uneven {
            false => self.rounds,
            true if x >> 60 == 0 => self.rounds * 8,
            true => self.rounds / 2,
        };
        for _ in 0..rounds {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        x
    }

    /// The plain loop over these items.
    pub fn fold(self, items: Range<u64>) -> Digest {
        items.map(|item| self.run(item)).fold(Digest::EMPTY, Digest::with)
    }

    /// The shortest of several timings of the plain loop, in nanoseconds an item. The shortest was disturbed
    /// least.
    fn measure(self) -> f64 {
        let items = self.items(2e-3).clamp(16, 1 << 20);
        let time = |_| {
            let start = Instant::now();
            black_box(self.fold(0..black_box(items)));
            start.elapsed().as_secs_f64() * 1e9 / items as f64
        };
        (0..7).map(time).fold(f64::INFINITY, f64::min)
    }
}

/// The result of a contender: a number that depends on every item and on their order.
///
/// It is a polynomial over the items, so the digests of two halves give the digest of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// The digest of no items.
    pub const EMPTY: Self = Self(0);
    const BASE: u64 = 0xD134_2543_DE82_EF95;

    /// The digest that another process has printed as a number.
    pub fn of_number(number: u64) -> Self {
        Self(number)
    }

    /// The number from which [`of_number`](Self::of_number) creates the same digest.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The digest with one more item.
    #[inline]
    pub fn with(self, item: u64) -> Self {
        Self(self.0.wrapping_mul(Self::BASE).wrapping_add(item))
    }

    /// The digest followed by that of `items` later items.
    pub fn then(self, later: Self, mut items: u64) -> Self {
        let (mut power, mut square) = (1u64, Self::BASE);
        while items > 0 {
            if items & 1 == 1 {
                power = power.wrapping_mul(square);
            }
            square = square.wrapping_mul(square);
            items >>= 1;
        }
        Self(self.0.wrapping_mul(power).wrapping_add(later.0))
    }
}

/// The state of a cheap serial stage: the sum so far. Items in another order give other results.
#[derive(Debug, Clone, Copy, Default)]
pub struct Running(u64);

impl Running {
    /// Adds an item, and returns the sum.
    #[inline]
    pub fn next(&mut self, item: u64) -> u64 {
        self.0 = self.0.wrapping_add(item);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digests_of_two_halves_give_that_of_the_whole() {
        let work = Work::calibrated(3, false);
        for split in [0, 1, 37, 100] {
            assert_eq!(work.fold(0..split).then(work.fold(split..100), 100 - split), work.fold(0..100));
        }
    }

    #[test]
    fn a_digest_sees_the_order() {
        let of = |items: [u64; 3]| items.into_iter().fold(Digest::EMPTY, Digest::with);
        assert_ne!(of([1, 2, 3]), of([1, 3, 2]));
        assert_ne!(of([0, 1, 2]), of([1, 2, 0]));
    }

    #[test]
    fn more_is_asked_more_is_done() {
        assert!(Work::of(20_000.0).rounds > 4 * Work::of(1_000.0).rounds);
        assert_eq!(Work::of(0.0).rounds, 0);
    }
}
