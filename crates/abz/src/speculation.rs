//! Speculative decoding of gzip members that do not record where their blocks lie.

use std::fmt;

/// Whether all workers decode pieces of one gzip member before the preceding contents are known. The output does not
/// depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Speculation {
    /// If it is expected to take at most two thirds of the time with the given number of workers.
    #[default]
    Auto,
    /// Always, for members that do not record their size.
    Always,
    /// Never. One worker decodes a member, while others read, verify and write.
    Never,
}

/// The expected time of both ways with a given number of workers, in percent of the time that one worker takes to
/// inflate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The time if one worker inflates.
    pub serial: u32,
    /// The time if all workers inflate speculatively.
    pub guessed: u32,
}

/// The cost of reading, summing up and writing the contents. This and the costs below are percentages of the time that
/// it takes to inflate, for text compressed by `gzip -6`. Their sum is measured (`measure/RESULTS.md`); the shares are
/// estimates.
const AROUND: u32 = 12;
/// The cost of finding a block and decoding from there, with markers.
const GUESS: u32 = 142;
/// The cost of replacing the markers.
const RESOLVE: u32 = 24;
/// The cost of joining the pieces, by one worker at a time, including the data before the first block of each.
const JOIN: u32 = 8;

impl Expected {
    /// The expected times with `workers` workers.
    pub fn with(workers: usize) -> Expected {
        let workers = u32::try_from(workers.clamp(1, 1024)).expect("that is a small number");
        let serial = 100.max((100 + AROUND).div_ceil(workers));
        let guessed = JOIN.max((GUESS + RESOLVE + JOIN + AROUND).div_ceil(workers));
        Expected { serial: if workers == 1 { 100 + AROUND } else { serial }, guessed }
    }

    /// Returns true if members are decoded speculatively.
    pub fn guesses(self, speculation: Speculation) -> bool {
        match speculation {
            // Speculation takes several times the processor time, so it has to be worth it.
            Speculation::Auto => 3 * self.guessed <= 2 * self.serial,
            Speculation::Always => true,
            Speculation::Never => false,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Expected { serial, guessed } = self;
        write!(
            f,
            "serial decoding is expected to take {serial} % of the time of one inflating worker, \
             speculative decoding {guessed} %"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worker_never_guesses_by_itself_and_many_do() {
        let guesses = |speculation, workers| Expected::with(workers).guesses(speculation);
        assert!(!guesses(Speculation::Auto, 1) && !guesses(Speculation::Auto, 2));
        assert!(guesses(Speculation::Auto, 3) && guesses(Speculation::Auto, 16));
        assert!(guesses(Speculation::Always, 1) && !guesses(Speculation::Never, 16));
    }
}
