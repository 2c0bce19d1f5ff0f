//! Filters whose history lies in a record or in a ring buffer.

use crate::filter::{Fir, LANES};

use super::History;

/// A filter that copies its input into a ring buffer, as programs without records do. It gives the same bits
/// as [`Fir`].
#[derive(Debug, Clone)]
pub(super) struct RingFir {
    fir: Fir,
    ring: Vec<f32>,
    /// The place of the oldest item.
    oldest: usize,
    /// Whether the first window was read.
    is_full: bool,
}

impl RingFir {
    pub(super) fn new(fir: Fir) -> Self {
        Self { ring: vec![0.0; fir.taps.len()], fir, oldest: 0, is_full: false }
    }

    /// As [`Fir::apply`], with the same windows call after call. Only the items of `from` that are new since the
    /// previous call are read.
    pub(super) fn apply(&mut self, from: &[f32], to: &mut [f32]) {
        let (taps, step) = (self.fir.taps.len(), self.fir.step);
        let mut items = from.iter();
        let mut first = taps;
        if self.is_full {
            items = from[self.fir.reach()..].iter();
            first = step;
        }
        for output in to {
            for &item in items.by_ref().take(first) {
                self.ring[self.oldest] = item;
                self.oldest = (self.oldest + 1) % taps;
            }
            (first, self.is_full) = (step, true);
            *output = self.output();
        }
    }

    fn output(&self) -> f32 {
        let taps = self.fir.taps.iter().enumerate();
        let product = |(n, tap): (usize, &f32)| tap * self.ring[(self.oldest + n) % self.ring.len()];
        if self.fir.step == 1 {
            return taps.fold(0.0, |sum, tap| sum + product(tap));
        }
        let mut sums = [0.0; LANES];
        taps.for_each(|(n, tap)| sums[n % LANES] += product((n, tap)));
        sums.iter().sum()
    }
}

/// A filter in either form. Both give the same bits.
#[derive(Debug, Clone)]
pub(super) enum Filter {
    Plain(Fir),
    Ring(RingFir),
}

impl Filter {
    pub(super) fn new(fir: &Fir, history: History) -> Self {
        match history {
            History::Records => Filter::Plain(fir.clone()),
            History::Rings => Filter::Ring(RingFir::new(fir.clone())),
        }
    }

    pub(super) fn apply(&mut self, from: &[f32], to: &mut [f32]) {
        match self {
            Filter::Plain(fir) => fir.apply(from, to),
            Filter::Ring(fir) => fir.apply(from, to),
        }
    }
}
