//! Filters with a finite impulse response.
//!
//! They are designed with Kaiser's window (J. F. Kaiser, *Nonrecursive Digital Filter Design Using the
//! I0-Sinh Window Function*, 1974).

use std::f64::consts::{PI, TAU};

use super::History;

/// How far the filters damp what they do not pass, in dB.
const DAMPING: f64 = 60.0;
/// The parameter of the window for this damping.
const BETA: f64 = 0.1102 * (DAMPING - 8.7);
/// How many sums a decimating filter forms at the same time. The number of its taps is a multiple of this.
const LANES: usize = 16;

/// The taps of a low-pass filter. `cutoff` is the frequency in the middle of the transition, and `width` is the
/// width of the transition, both as parts of the sampling rate.
pub(super) fn low_pass(cutoff: f64, width: f64) -> Vec<f64> {
    let taps = (DAMPING - 8.0) / (2.285 * TAU * width) + 1.0;
    low_pass_of(cutoff, (taps.ceil() as usize).next_multiple_of(LANES))
}

/// A low-pass filter with this number of taps. Its gain at 0 Hz is 1.
pub(super) fn low_pass_of(cutoff: f64, taps: usize) -> Vec<f64> {
    let middle = (taps - 1) as f64 / 2.0;
    let tap = |n: usize| {
        let x = n as f64 - middle;
        let sinc = if x == 0.0 { 2.0 * cutoff } else { (TAU * cutoff * x).sin() / (PI * x) };
        let part = x / (middle + 0.5);
        sinc * bessel(BETA * (1.0 - part * part).sqrt()) / bessel(BETA)
    };
    let mut taps: Vec<f64> = (0..taps).map(tap).collect();
    let sum: f64 = taps.iter().sum();
    taps.iter_mut().for_each(|tap| *tap /= sum);
    taps
}

/// The modified Bessel function of the first kind and order 0.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > 1e-15 * sum {
        term *= (x / (2.0 * k)) * (x / (2.0 * k));
        sum += term;
        k += 1.0;
    }
    sum
}

/// A filter: output *n* is the sum of tap *k* times input *step* × *n* + *k* over all *k*.
#[derive(Debug, Clone)]
pub(super) struct Fir {
    taps: Vec<f32>,
    step: usize,
}

impl Fir {
    /// A filter that takes `step` items for each that it gives. The number of taps must be a multiple of 16.
    pub(super) fn new(taps: Vec<f64>, step: usize) -> Self {
        assert!(taps.len().is_multiple_of(LANES), "{} taps are no multiple of {LANES}", taps.len());
        Self { taps: taps.into_iter().map(|tap| tap as f32).collect(), step }
    }

    /// How many items the filter sees beyond those that it takes.
    pub(super) fn reach(&self) -> usize {
        self.taps.len().saturating_sub(self.step)
    }

    /// Computes all outputs in `to`. `from` has the items that they take, and as many more as the filter
    /// [reaches](Self::reach).
    pub(super) fn apply(&self, from: &[f32], to: &mut [f32]) {
        if self.step == 1 {
            return self.apply_each(from, to);
        }
        for (n, output) in to.iter_mut().enumerate() {
            *output = self.at(&from[n * self.step..]);
        }
    }

    /// One output of a decimating filter, whose first input is `from[0]`.
    fn at(&self, from: &[f32]) -> f32 {
        let mut sums = [0.0; LANES];
        for (taps, items) in self.taps.chunks_exact(LANES).zip(from.chunks_exact(LANES)) {
            for lane in 0..LANES {
                sums[lane] += taps[lane] * items[lane];
            }
        }
        sums.iter().sum()
    }

    /// Computes outputs for a step of 1: neighbouring outputs at the same time, each with one sum.
    fn apply_each(&self, from: &[f32], to: &mut [f32]) {
        let mut first = 0;
        let (blocks, rest) = to.as_chunks_mut::<LANES>();
        for block in blocks {
            let mut sums = [0.0; LANES];
            for (tap, items) in self.taps.iter().zip(from[first..].windows(LANES)) {
                for lane in 0..LANES {
                    sums[lane] += tap * items[lane];
                }
            }
            *block = sums;
            first += LANES;
        }
        for (n, output) in rest.iter_mut().enumerate() {
            *output = self.taps.iter().zip(&from[first + n..]).fold(0.0, |sum, (tap, item)| sum + tap * item);
        }
    }
}

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

    /// As [`Fir::apply`], with the same windows call after call. Only the items of `from` that were not there
    /// in the call before are read.
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
