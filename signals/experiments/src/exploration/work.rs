//! The work for an index.

use measure_harness::work;

/// The work for an index on each side. Without rounds, it is one store on the side of the producer, and one
/// load and one addition on the side of the consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// The number of steps of a computation for each index.
    rounds: u32,
    /// The time that the rounds were chosen for, in nanoseconds.
    nanoseconds: u32,
}

impl Work {
    /// One store or load.
    pub const NONE: Self = Self { rounds: 0, nanoseconds: 0 };

    /// Creates work of this number of rounds.
    pub const fn of_rounds(rounds: u32) -> Self {
        Self { rounds, nanoseconds: 0 }
    }

    /// Creates work that takes about this time on this machine. Measures for some milliseconds.
    pub fn of_nanoseconds(nanoseconds: u32) -> Self {
        let (rounds, _) = work::Work::of(nanoseconds.into()).calibration();
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
    fn done(self, number: u32) -> u32 {
        match self.rounds {
            0 => number,
            rounds => (work::Work::calibrated(rounds, false).run(number.into()) >> 32) as u32,
        }
    }
}

/// Returns the number that a producer stores for an index.
#[inline(always)]
pub fn produced(work: Work, index: u64) -> u32 {
    work.done(index as u32)
}

/// Adds the work for the next numbers to the consumer's sum, and returns it.
#[inline(always)]
pub fn consumed(work: Work, sum: u32, numbers: &[u32]) -> u32 {
    numbers.iter().fold(sum, |sum, &number| sum.wrapping_add(work.done(number)))
}
