//! The work for an index.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The work for an index on each side. Without rounds, it is one store on the side of the producer, and one
/// load and one addition on the side of the consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// The number of steps of a computation for each index.
    rounds: u32,
    /// The time that the rounds were chosen for, in nanoseconds.
    nanoseconds: u32,
}

/// The number of indices that the calibration computes at a time.
const CALIBRATED: u32 = 20_000;

impl Work {
    /// One store or load.
    pub const NONE: Self = Self { rounds: 0, nanoseconds: 0 };

    /// Creates work of this number of rounds.
    pub const fn of_rounds(rounds: u32) -> Self {
        Self { rounds, nanoseconds: 0 }
    }

    /// Creates work that takes about this time on this machine. Measures for some milliseconds.
    pub fn of_nanoseconds(nanoseconds: u32) -> Self {
        if nanoseconds == 0 {
            return Self::NONE;
        }
        let best = |rounds| {
            let once = || {
                let begin = Instant::now();
                let work = Self::of_rounds(rounds);
                black_box((0..CALIBRATED).fold(0u32, |sum, n| sum.wrapping_add(work.done(n))));
                begin.elapsed()
            };
            (0..9).map(|_| once()).min().unwrap_or(Duration::ZERO).as_secs_f64() / f64::from(CALIBRATED)
        };
        let wanted = 1e-9 * f64::from(nanoseconds);
        let mut rounds = 1;
        while best(rounds) < wanted && rounds < 1 << 20 {
            rounds += rounds.div_ceil(16);
        }
        Self { rounds, nanoseconds }
    }

    /// Returns the number of rounds.
    pub fn rounds(self) -> u32 {
        self.rounds
    }

    /// Returns the time for which the rounds were chosen, in nanoseconds; 0 for a store or load.
    pub fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }

    /// Does the work for a number.
    #[inline(always)]
    pub(super) fn done(self, number: u32) -> u32 {
        if self.rounds == 0 {
            return number;
        }
        let mut state = u64::from(number);
        for _ in 0..self.rounds {
            // The constants of a linear congruential generator (D. Knuth's MMIX).
            state = black_box(
                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407),
            );
        }
        (state >> 32) as u32
    }
}

/// Returns the number that a producer stores for an index.
#[inline(always)]
pub(super) fn produced(work: Work, index: u64) -> u32 {
    work.done(index as u32)
}

/// Adds the work for the next numbers to the consumer's sum, and returns it.
#[inline(always)]
pub(super) fn consumed(work: Work, sum: u32, numbers: &[u32]) -> u32 {
    numbers.iter().fold(sum, |sum, &number| sum.wrapping_add(work.done(number)))
}
