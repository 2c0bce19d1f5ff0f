//! What the contenders work on: xorshift rounds, calibrated to a grain, and a digest that tells one order of
//! items from another.

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

/// So many xorshift rounds an item.
///
/// Each round needs the one before, so that neither vectors nor a second core's caches play a part: the work
/// takes the time that it takes on any thread.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    rounds: u32,
    /// Whether one item in 16 takes 8 times as long and the others half.
    uneven: bool,
    /// What an item took the plain loop when this was calibrated, in nanoseconds.
    pub nanos: f64,
}

impl Work {
    /// Work that takes the plain loop so many nanoseconds an item; none at all for 0.
    pub fn of(nanos: f64) -> Self {
        let mut rounds = 0;
        let with = |rounds, nanos| Self { rounds, uneven: false, nanos };
        let mut measured = with(rounds, 0.0).measure();
        if nanos > 0.0 {
            // Rounds of neighbouring items overlap in the core where they are few, so one step is not enough.
            rounds = nanos.ceil() as u32;
            for _ in 0..4 {
                measured = with(rounds, nanos).measure();
                rounds = ((f64::from(rounds) * nanos / measured).round() as u32).max(1);
            }
            measured = with(rounds, nanos).measure();
        }
        with(rounds, measured)
    }

    /// Work that was calibrated elsewhere.
    #[allow(dead_code)] // for the rivals' own process
    pub fn calibrated(rounds: u32, uneven: bool) -> Self {
        Self { rounds, uneven, nanos: 0.0 }
    }

    /// What [`calibrated`](Self::calibrated) makes it from.
    pub fn calibration(self) -> (u32, bool) {
        (self.rounds, self.uneven)
    }

    /// The same work in the mean, but one item in 16 takes 8 times as long and the others half.
    pub fn uneven(self) -> Self {
        Self { uneven: true, nanos: self.nanos * (8.0 + 15.0 / 2.0) / 16.0, ..self }
    }

    /// Half of it, for an item that passes two stages.
    pub fn half(self) -> Self {
        self.share(0.5)
    }

    /// A part of it, or several times as much.
    pub fn share(self, times: f64) -> Self {
        let rounds = (f64::from(self.rounds) * times).round() as u32;
        Self { rounds, nanos: self.nanos * times, ..self }
    }

    /// How many items take the plain loop so many seconds.
    pub fn items(self, seconds: f64) -> u64 {
        (seconds * 1e9 / self.nanos.max(0.5)) as u64
    }

    /// Works on one item.
    ///
    /// A call, always: each contender shall run the same instructions, however the rest of it is compiled.
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

    /// The plain loop over some items.
    pub fn fold(self, items: Range<u64>) -> Digest {
        items.map(|item| self.run(item)).fold(Digest::EMPTY, Digest::with)
    }

    /// The least of some timings of the plain loop, in nanoseconds an item: what is least was disturbed least.
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

/// What a contender gives: a number that depends on every item and on their order.
///
/// A polynomial over the items, so that the digests of two halves give that of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    pub const EMPTY: Self = Self(0);
    const BASE: u64 = 0xD134_2543_DE82_EF95;

    /// What another process gave.
    pub fn of_number(number: u64) -> Self {
        Self(number)
    }

    /// What [`of_number`](Self::of_number) makes it from.
    #[allow(dead_code)] // for the rivals' own process
    pub fn number(self) -> u64 {
        self.0
    }

    /// With one item more.
    #[inline]
    pub fn with(self, item: u64) -> Self {
        Self(self.0.wrapping_mul(Self::BASE).wrapping_add(item))
    }

    /// Followed by the digest of so many later items.
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

/// The state of a cheap serial stage: the sum so far. Items in another order give other sums.
#[derive(Debug, Clone, Copy, Default)]
pub struct Running(u64);

impl Running {
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
