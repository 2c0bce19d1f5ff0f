//! Whether a member of gzip that does not say where its blocks are is decoded by all workers.

use std::fmt;

/// Whether pieces of one member of gzip are decoded before it is known what comes before them. What comes out is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Speculation {
    /// If it is expected to take at most two thirds of the time with so many workers.
    #[default]
    Auto,
    /// Always, for members that do not say how large they are.
    Always,
    /// Never: one worker decodes a member, while others read, verify and write.
    Never,
}

/// What is expected of both ways with so many workers, in percent of the time that one worker takes to inflate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Of the way with one worker that inflates.
    pub serial: u32,
    /// Of the way with guesses.
    pub guessed: u32,
}

/// What the steps cost, in percent of the time that it takes to inflate, on text that `gzip -6` compressed; their sum is measured
/// (`bench/README.md`), and the shares are estimates: to read, sum up and write the contents;
const AROUND: u32 = 12;
/// to find a block and decode from there, with markers;
const GUESS: u32 = 325;
/// to put in what is missing;
const RESOLVE: u32 = 35;
/// and, by one worker at a time, to join the pieces, with what is before the first block of each.
const JOIN: u32 = 8;

impl Speculation {
    /// True if it is done with so many workers.
    pub fn is_done(self, workers: usize) -> bool {
        let expected = Expected::with(workers);
        match self {
            // Guesses take several times as much processor time, so they have to be worth it.
            Speculation::Auto => 3 * expected.guessed <= 2 * expected.serial,
            Speculation::Always => true,
            Speculation::Never => false,
        }
    }
}

impl Expected {
    /// What is expected with so many workers.
    pub fn with(workers: usize) -> Expected {
        let workers = u32::try_from(workers.clamp(1, 1024)).expect("that is a small number");
        let serial = 100.max((100 + AROUND).div_ceil(workers));
        let guessed = JOIN.max((GUESS + RESOLVE + JOIN + AROUND).div_ceil(workers));
        Expected { serial: if workers == 1 { 100 + AROUND } else { serial }, guessed }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Expected { serial, guessed } = self;
        write!(f, "one worker that inflates is expected to take {serial} % of its time, guesses {guessed} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worker_never_guesses_by_itself_and_many_do() {
        assert!(!Speculation::Auto.is_done(1));
        assert!(Speculation::Auto.is_done(16));
        assert!(Speculation::Always.is_done(1) && !Speculation::Never.is_done(16));
    }
}
