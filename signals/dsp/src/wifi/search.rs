//! Finds the preambles of frames: first the short training symbols, because they repeat, and then the exact
//! place of the long ones (T. M. Schmidl and D. C. Cox, *Robust Frequency and Timing Synchronization for OFDM*,
//! 1997).

use std::f64::consts::TAU;

use dsp_transforms::num_complex::{Complex32, Complex64};

use super::demodulate::{Estimate, turns};
use super::preamble::{LONG_GUARD, SHORT, long_spectrum};
use super::symbols::{Transform, USEFUL};

/// The number of blocks whose sums are taken together.
const BLOCKS: usize = 4;
/// The least share of a signal's power that is the same 16 samples later. White noise reaches it in one of ten million
/// cases.
const LEAST_REPEATED: f64 = 0.5;
/// The least share of the power of two long training symbols that fits their shape. The short training symbols
/// alone reach 0.23.
const LEAST_SHAPED: f32 = 0.28;
/// The least distance of the long training symbols from the block with which the short ones were found, in samples.
const NEAREST: u64 = 56;
/// The largest distance.
const FARTHEST: u64 = 240;
/// The number of samples by which symbols are taken early, within the guard interval. So echoes that come before the
/// strongest one, and a drift of the clock, do no harm.
pub(super) const EARLY: u64 = 4;
/// The number of samples before the long training symbols that are used again for the frequency offset.
pub(super) const LOOK_BACK: u64 = 168;

/// A place where the short training symbols may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// The first sample of the last of the blocks.
    at: u64,
    turns: f64,
}

impl Candidate {
    /// Returns the places where the first long training symbol may begin.
    pub(super) fn places(&self, not_before: u64) -> std::ops::Range<u64> {
        (self.at + NEAREST).max(not_before)..self.at + FARTHEST
    }
}

/// Sums over the block of 16 samples that begins at a multiple of 16.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// The samples times those of the next block.
    repeated: Complex64,
    power: f64,
    next_power: f64,
}

/// Looks for signals that repeat after 16 samples.
#[derive(Debug)]
pub(super) struct Search {
    /// The first sample of the next block.
    next: u64,
    recent: [Sums; BLOCKS],
}

impl Search {
    /// Creates a search from the first multiple of 16 that is not below `from`.
    pub(super) fn new(from: u64) -> Self {
        Self { next: from.next_multiple_of(SHORT as u64), recent: [Sums::default(); BLOCKS] }
    }

    /// Returns the index of the first sample that is still needed.
    pub(super) fn needs_from(&self) -> u64 {
        self.next
    }

    /// Goes on until a candidate is found or `samples`, of which the first has the index `first`, are used up.
    pub(super) fn go_on(&mut self, first: u64, samples: &[Complex32]) -> Option<Candidate> {
        loop {
            let from = (self.next - first) as usize;
            let blocks = samples.get(from..from + 2 * SHORT)?;
            let at = self.next;
            self.next += SHORT as u64;
            self.recent.rotate_left(1);
            self.recent[BLOCKS - 1] = sums(blocks);
            let sum = self.recent.iter().fold(Sums::default(), |sum, block| Sums {
                repeated: sum.repeated + block.repeated,
                power: sum.power + block.power,
                next_power: sum.next_power + block.next_power,
            });
            let least = LEAST_REPEATED * LEAST_REPEATED * sum.power * sum.next_power;
            if least > 0.0 && sum.repeated.norm_sqr() > least {
                return Some(Candidate { at, turns: turns(sum.repeated) / SHORT as f64 });
            }
        }
    }
}

/// Returns the sums over the first half of `blocks`.
fn sums(blocks: &[Complex32]) -> Sums {
    let (block, next) = blocks.split_at(SHORT);
    const LANES: usize = 4;
    let (mut re, mut im, mut powers) = ([0.0_f32; LANES], [0.0_f32; LANES], [[0.0_f32; LANES]; 2]);
    for (block, next) in block.chunks_exact(LANES).zip(next.chunks_exact(LANES)) {
        for lane in 0..LANES {
            let (a, b) = (block[lane], next[lane]);
            re[lane] += a.re * b.re + a.im * b.im;
            im[lane] += a.re * b.im - a.im * b.re;
            powers[0][lane] += a.re * a.re + a.im * a.im;
            powers[1][lane] += b.re * b.re + b.im * b.im;
        }
    }
    let sum = |lanes: [f32; LANES]| lanes.iter().map(|lane| f64::from(*lane)).sum();
    Sums { repeated: Complex64::new(sum(re), sum(im)), power: sum(powers[0]), next_power: sum(powers[1]) }
}

/// Finds the long training symbols.
#[derive(Debug)]
pub(super) struct LongTraining {
    transform: Transform,
    spectrum: [f32; USEFUL],
    /// A long training symbol.
    shape: [Complex32; USEFUL],
}

impl LongTraining {
    pub(super) fn new() -> Self {
        let mut transform = Transform::new();
        let spectrum = long_spectrum();
        let mut shape = spectrum.map(Complex32::from);
        transform.samples(&mut shape);
        Self { transform, spectrum, shape }
    }

    /// Returns the index in `samples` of the first of two long training symbols, if it is within `places`. Places at
    /// which `samples` end too early are ignored.
    pub(super) fn find(
        &self,
        candidate: &Candidate,
        samples: &[Complex32],
        places: std::ops::Range<usize>,
    ) -> Option<usize> {
        let end = places.end.min((samples.len() + 1).saturating_sub(2 * USEFUL));
        if end <= places.start {
            return None;
        }
        let turn = cis(-candidate.turns);
        let mut turned = Complex32::ONE;
        let straight: Vec<Complex32> = samples
            .get(places.start..end - 1 + 2 * USEFUL)?
            .iter()
            .map(|sample| {
                turned *= turn;
                sample * turned
            })
            .collect();
        let fits = self.fits(&straight);
        let (mut best, mut most) = (None, 2.0 * LEAST_SHAPED);
        for (at, pair) in fits.windows(USEFUL + 1).enumerate() {
            let fit = pair[0] + pair[USEFUL];
            if fit > most {
                (best, most) = (Some(places.start + at), fit);
            }
        }
        best
    }

    /// Returns, for each place, the share of the power of 64 samples that has the shape of a long training symbol.
    fn fits(&self, samples: &[Complex32]) -> Vec<f32> {
        let count = samples.len() + 1 - USEFUL;
        let (re, im): (Vec<f32>, Vec<f32>) = samples.iter().map(|sample| (sample.re, sample.im)).unzip();
        let (mut sum_re, mut sum_im) = (vec![0.0_f32; count], vec![0.0_f32; count]);
        for (at, shape) in self.shape.iter().enumerate() {
            let inputs = re[at..at + count].iter().zip(&im[at..at + count]);
            for ((sum_re, sum_im), (re, im)) in sum_re.iter_mut().zip(&mut sum_im).zip(inputs) {
                *sum_re += shape.re * re + shape.im * im;
                *sum_im += shape.re * im - shape.im * re;
            }
        }
        let shape_power: f32 = self.shape.iter().map(|sample| sample.norm_sqr()).sum();
        let mut power: f64 = samples[..USEFUL - 1].iter().map(|sample| f64::from(sample.norm_sqr())).sum();
        let mut fits = Vec::with_capacity(count);
        for (at, (re, im)) in sum_re.iter().zip(&sum_im).enumerate() {
            power += f64::from(samples[at + USEFUL - 1].norm_sqr());
            let fit = (re * re + im * im) / (shape_power * power as f32);
            fits.push(if fit.is_finite() { fit } else { 0.0 });
            power -= f64::from(samples[at].norm_sqr());
        }
        fits
    }

    /// Estimates the channel from the preamble. `at` is the index in `samples` of the first long training symbol.
    pub(super) fn estimate(&mut self, samples: &[Complex32], at: usize) -> Estimate {
        let repeated = |range: std::ops::Range<usize>, distance: usize| -> Complex64 {
            range.map(|at| wide(samples[at]).conj() * wide(samples[at + distance])).sum()
        };
        let short = at.saturating_sub(LOOK_BACK as usize)..at.saturating_sub(LONG_GUARD + SHORT + 8);
        let coarse = turns(repeated(short, SHORT)) / SHORT as f64;
        // The offset that remains turns the second long training symbol against the first.
        let left = turns(repeated(at..at + USEFUL, USEFUL) * Complex64::cis(-TAU * coarse * USEFUL as f64));
        let turns = coarse + left / USEFUL as f64;
        let mut estimate = Estimate { gains: [Complex32::default(); USEFUL], turns };
        let from = at.saturating_sub(EARLY as usize);
        for symbol in 0..2 {
            let place = symbol * USEFUL;
            let mut values = [Complex32::default(); USEFUL];
            estimate.straighten(place as u64, &samples[from + place..from + place + USEFUL], &mut values);
            self.transform.spectrum(&mut values);
            for ((gain, value), sent) in estimate.gains.iter_mut().zip(values).zip(self.spectrum) {
                *gain += value * (0.5 * sent);
            }
        }
        estimate
    }
}

fn wide(sample: Complex32) -> Complex64 {
    Complex64::new(sample.re.into(), sample.im.into())
}

fn cis(turns: f64) -> Complex32 {
    let value = Complex64::cis(TAU * turns.fract());
    Complex32::new(value.re as f32, value.im as f32)
}
