//! From the samples of symbols to soft bits.

use std::f64::consts::TAU;

use dsp_transforms::num_complex::{Complex32, Complex64};

use super::interleaver::positions;
use super::mapping::{Modulation, soft};
use super::rate::{CARRIERS, Rate};
use super::scrambler::{PERIOD, polarity};
use super::symbols::{PILOT_DISTANCE, PILOT_VALUES, PILOTS, SYMBOL, Transform, USEFUL, bin, data_carriers};
use super::viterbi::SUREST;

/// The estimate of the channel from the preamble.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// The channel's factor for each carrier, at the places of a spectrum.
    pub gains: [Complex32; USEFUL],
    /// The frequency offset in turns a sample.
    pub turns: f64,
}

impl Estimate {
    /// Removes the frequency offset from the samples of a symbol. `at` is the index of the first one, counted from the
    /// samples from which the gains were taken.
    pub fn straighten(&self, at: u64, samples: &[Complex32], straight: &mut [Complex32; USEFUL]) {
        let turn = |turns: f64| {
            let turned = Complex64::cis(-TAU * turns.fract());
            Complex32::new(turned.re as f32, turned.im as f32)
        };
        // Eight factors, and their turns from eight samples to the next, are exact enough and cheap.
        let near: [Complex32; 8] = std::array::from_fn(|step| turn(self.turns * step as f64));
        let far: [Complex32; 8] =
            std::array::from_fn(|step| turn(self.turns * (at + 8 * step as u64) as f64));
        for (step, (straight, samples)) in
            straight.chunks_exact_mut(8).zip(samples.chunks_exact(8)).enumerate()
        {
            for ((straight, sample), near) in straight.iter_mut().zip(samples).zip(near) {
                *straight = sample * (near * far[step]);
            }
        }
    }
}

/// The tables of a rate.
#[derive(Debug, Clone)]
struct Table {
    /// For each bit that the points of a symbol carry: its place among the coded bits before puncturing.
    places: Vec<u16>,
    /// The number of coded bits of a symbol before puncturing.
    coded: usize,
}

impl Table {
    fn new(rate: Rate) -> Self {
        let coded = 2 * rate.data_bits();
        let pattern = rate.puncturing().pattern();
        let sent = (0..coded).filter(|at| pattern[at % pattern.len()]);
        let mut places = vec![0; rate.coded_bits()];
        for (position, place) in positions(rate).into_iter().zip(sent) {
            places[position] = place as u16;
        }
        Self { places, coded }
    }
}

/// Demodulates symbols, with the tables and the memory that this needs.
pub struct Demodulator {
    transform: Transform,
    polarity: [f32; PERIOD],
    tables: [Table; 8],
    carriers: [usize; CARRIERS],
    spectra: Vec<[Complex32; USEFUL]>,
    phases: Vec<Complex32>,
}

impl std::fmt::Debug for Demodulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Demodulator").finish_non_exhaustive()
    }
}

impl Demodulator {
    /// Makes the tables.
    pub fn new() -> Self {
        Self {
            transform: Transform::new(),
            polarity: polarity(),
            tables: Rate::ALL.map(Table::new),
            carriers: data_carriers().map(bin),
            spectra: Vec::new(),
            phases: Vec::new(),
        }
    }

    /// Appends the soft bits of symbols to `bits`: two for each data bit, as the decoder takes them. `samples` has 64
    /// samples for each symbol. The first symbol has the number `number` (the SIGNAL field has number 0), and its first
    /// sample has the index `at` for [`Estimate::straighten`].
    ///
    /// The pilots give the phase of each symbol. All symbols of the call together give the drift of the receiver's
    /// clock against the sender's.
    pub fn symbols(
        &mut self,
        estimate: &Estimate,
        rate: Rate,
        number: usize,
        at: u64,
        samples: &[Complex32],
        bits: &mut Vec<i8>,
    ) {
        self.spectra.clear();
        self.phases.clear();
        let mut sums = [Complex32::default(); 4];
        for (symbol, samples) in samples.chunks_exact(USEFUL).enumerate() {
            let mut spectrum = [Complex32::default(); USEFUL];
            estimate.straighten(at + (symbol * SYMBOL) as u64, samples, &mut spectrum);
            self.transform.spectrum(&mut spectrum);
            let polarity = self.polarity[(number + symbol) % PERIOD];
            let pilots: [Complex32; 4] = std::array::from_fn(|pilot| {
                let place = bin(PILOTS[pilot]);
                spectrum[place] * estimate.gains[place].conj() * (PILOT_VALUES[pilot] * polarity)
            });
            let phase = unit(pilots.iter().sum());
            sums.iter_mut().zip(pilots).for_each(|(sum, pilot)| *sum += pilot * phase.conj());
            self.spectra.push(spectrum);
            self.phases.push(phase);
        }
        let slope: Complex32 = sums.windows(2).map(|pair| pair[0].conj() * pair[1]).sum();
        let equaliser = self.equaliser(estimate, unit(slope).arg() / PILOT_DISTANCE as f32);

        let table = &self.tables[rate.index()];
        let from = bits.len();
        bits.resize(from + self.spectra.len() * table.coded, 0);
        let symbols = self.spectra.iter().zip(&self.phases).zip(bits[from..].chunks_exact_mut(table.coded));
        let carriers = &self.carriers;
        let modulation = rate.modulation();
        for ((spectrum, phase), bits) in symbols {
            let points = equaliser.points(spectrum, *phase, carriers);
            match modulation {
                Modulation::Bpsk => demap::<1, 1>(&points, &table.places, bits),
                Modulation::Qpsk => demap::<1, 2>(&points, &table.places, bits),
                Modulation::Qam16 => demap::<2, 2>(&points, &table.places, bits),
                Modulation::Qam64 => demap::<3, 2>(&points, &table.places, bits),
            }
        }
    }

    /// Returns the factors that undo the channel, and a slope of the phase, in radians a carrier.
    fn equaliser(&self, estimate: &Estimate, slope: f32) -> Equaliser {
        let gains = self.carriers.map(|carrier| estimate.gains[carrier]);
        let mean = gains.iter().map(|gain| gain.norm_sqr()).sum::<f32>() / CARRIERS as f32;
        let mut equaliser = Equaliser::default();
        for (place, (gain, carrier)) in gains.into_iter().zip(self.carriers).enumerate() {
            let carrier = (carrier as f32 + 32.0) % 64.0 - 32.0;
            let power = gain.norm_sqr().max(1e-9 * mean);
            equaliser.factors[place] = gain.conj() * Complex32::cis(-slope * carrier) / power;
            equaliser.weights[place] = power / mean;
        }
        equaliser
    }
}

impl Default for Demodulator {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns a number of size 1 with the angle of `value`, or 1.
fn unit(value: Complex32) -> Complex32 {
    let size = value.norm();
    if size > 0.0 && size.is_finite() { value / size } else { Complex32::ONE }
}

struct Equaliser {
    factors: [Complex32; CARRIERS],
    /// The power of each carrier, as a part of the mean power. A strong carrier's bits are surer.
    weights: [f32; CARRIERS],
}

impl Default for Equaliser {
    fn default() -> Self {
        Self { factors: [Complex32::default(); CARRIERS], weights: [0.0; CARRIERS] }
    }
}

/// The received points of a symbol.
struct Points {
    axes: [[f32; CARRIERS]; 2],
    weights: [f32; CARRIERS],
}

impl Equaliser {
    fn points(
        &self,
        spectrum: &[Complex32; USEFUL],
        phase: Complex32,
        carriers: &[usize; CARRIERS],
    ) -> Points {
        let mut axes = [[0.0; CARRIERS]; 2];
        let back = phase.conj();
        for place in 0..CARRIERS {
            let point = spectrum[carriers[place] % USEFUL] * (self.factors[place] * back);
            axes[0][place] = point.re;
            axes[1][place] = point.im;
        }
        Points { axes, weights: self.weights }
    }
}

/// The soft bit for half of the distance between neighbours, on a carrier of mean power.
const SOFT_UNIT: f32 = 7.0;
/// Makes soft bits positive, so that they are rounded alike.
const BIAS: f32 = 32.0;

/// Writes the soft bits of a symbol: `N` for each axis, on `AXES` axes.
fn demap<const N: usize, const AXES: usize>(points: &Points, places: &[u16], bits: &mut [i8]) {
    let modulation = match (N, AXES) {
        (1, 1) => Modulation::Bpsk,
        (1, _) => Modulation::Qpsk,
        (2, _) => Modulation::Qam16,
        _ => Modulation::Qam64,
    };
    let levels = modulation.step().recip();
    for axis in 0..AXES {
        let mut softs = [[0_i8; CARRIERS]; N];
        for (carrier, (value, weight)) in points.axes[axis].iter().zip(&points.weights).enumerate() {
            let (level, scale) = (value * levels, weight * SOFT_UNIT);
            for (bit, sure) in soft::<N>(level).into_iter().enumerate() {
                let soft = (sure * scale).clamp(-f32::from(SUREST), f32::from(SUREST));
                // Rounds to the nearest number, as the bias is more than the largest soft bit.
                softs[bit][carrier] = (soft + (BIAS + 0.5)) as i8 - BIAS as i8;
            }
        }
        for (carrier, places) in places.chunks_exact(N * AXES).enumerate().take(CARRIERS) {
            for (softs, place) in softs.iter().zip(&places[axis * N..]) {
                bits[usize::from(*place)] = softs[carrier];
            }
        }
    }
}

/// Returns the angle of a value in turns, from -0.5 to 0.5.
pub(super) fn turns(value: Complex64) -> f64 {
    value.arg() / TAU
}
