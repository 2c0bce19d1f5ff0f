//! Filters with a finite impulse response.
//!
//! They are designed with Kaiser's window (J. F. Kaiser, *Nonrecursive Digital Filter Design Using the
//! I0-Sinh Window Function*, 1974).

use std::f64::consts::{PI, TAU};

/// The attenuation of the stop band of the filters, in dB.
const DAMPING: f64 = 60.0;
/// The parameter of the window for this damping.
const BETA: f64 = 0.1102 * (DAMPING - 8.7);
/// The number of sums that a decimating filter forms at the same time. The number of its taps is a multiple of it.
pub(crate) const LANES: usize = 16;

/// The taps of a low-pass filter. `cutoff` is the frequency in the middle of the transition, and `width` is the
/// width of the transition, both as parts of the sampling rate.
pub(crate) fn low_pass(cutoff: f64, width: f64) -> Vec<f64> {
    let taps = (DAMPING - 8.0) / (2.285 * TAU * width) + 1.0;
    low_pass_of(cutoff, (taps.ceil() as usize).next_multiple_of(LANES))
}

/// A low-pass filter with this number of taps. Its gain at 0 Hz is 1.
pub(crate) fn low_pass_of(cutoff: f64, taps: usize) -> Vec<f64> {
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
pub(crate) struct Fir {
    pub(crate) taps: Vec<f32>,
    pub(crate) step: usize,
}

impl Fir {
    /// Creates a filter that takes `step` items for each item of output. The number of taps must be a multiple of 16.
    pub(crate) fn new(taps: Vec<f64>, step: usize) -> Self {
        assert!(taps.len().is_multiple_of(LANES), "{} taps are no multiple of {LANES}", taps.len());
        Self { taps: taps.into_iter().map(|tap| tap as f32).collect(), step }
    }

    /// Returns the number of items that the filter sees beyond those that it takes.
    pub(crate) fn reach(&self) -> usize {
        self.taps.len().saturating_sub(self.step)
    }

    /// Computes all outputs in `to`. `from` has the items that they take, and as many more as the filter
    /// [reaches](Self::reach).
    pub(crate) fn apply(&self, from: &[f32], to: &mut [f32]) {
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

/// A filter that keeps the items that it needs again. Before the first item, there were zeros.
#[derive(Debug, Clone)]
pub(crate) struct Causal {
    fir: Fir,
    line: Vec<f32>,
}

impl Causal {
    pub(crate) fn new(fir: Fir) -> Self {
        Self { line: vec![0.0; fir.reach()], fir }
    }

    /// Computes all outputs in `to` from the items in `from`, of which there are `step` for each output.
    pub(crate) fn apply(&mut self, from: &[f32], to: &mut [f32]) {
        let reach = self.fir.reach();
        self.line.truncate(reach);
        self.line.extend_from_slice(from);
        self.fir.apply(&self.line, to);
        self.line.copy_within(from.len().., 0);
    }
}
