//! From the bytes of a frame to its samples.

use dsp_transforms::num_complex::Complex32;

use super::code::encode;
use super::frame::scrambled;
use super::interleaver::{interleave, positions};
use super::preamble::{HALF, LONG_GUARD, long_spectrum, short_spectrum};
use super::rate::{CARRIERS, Rate};
use super::scrambler::polarity;
use super::signal::Signal;
use super::symbols::{GUARD, SYMBOL, Transform, USEFUL, spectrum};

/// Makes frames, with the tables that this needs.
#[derive(Debug, Clone)]
pub struct Encoder {
    transform: Transform,
    polarity: [f32; 127],
    /// For each rate.
    positions: [Vec<usize>; 8],
    short: [Complex32; USEFUL],
    long: [Complex32; USEFUL],
}

/// Returns the number of samples of a frame of `bytes` bytes, with the one into which it fades.
pub fn frame_samples(bytes: usize, rate: Rate) -> usize {
    2 * HALF + SYMBOL * (1 + rate.symbols(bytes)) + 1
}

impl Encoder {
    /// Makes the tables.
    pub fn new() -> Self {
        let mut transform = Transform::new();
        let (mut short, mut long) = (short_spectrum(), long_spectrum().map(Complex32::from));
        transform.samples(&mut short);
        transform.samples(&mut long);
        Self { transform, polarity: polarity(), positions: Rate::ALL.map(positions), short, long }
    }

    /// Appends the samples of a frame: preamble, SIGNAL field and data. `bytes` are the payload and its check
    /// sequence, 1 to 4,095 bytes. `seed` is the state of the scrambler, from 1 to 127.
    pub fn frame(&mut self, bytes: &[u8], rate: Rate, seed: u8, samples: &mut Vec<Complex32>) {
        samples.reserve(frame_samples(bytes.len(), rate));
        let mut wave = Wave { samples, fading: Complex32::default() };
        wave.append(&self.short, 0, HALF);
        wave.append(&self.long, LONG_GUARD, HALF);
        let signal = Signal { rate, bytes: bytes.len() };
        self.symbol(0, &signal.bits(), Rate::SIGNAL, &mut wave);
        let bits = scrambled(bytes, rate, seed);
        // The encoder goes on from symbol to symbol.
        let coded = encode(&bits, rate.puncturing());
        for (number, coded) in coded.chunks_exact(rate.coded_bits()).enumerate() {
            self.coded_symbol(number + 1, coded, rate, &mut wave);
        }
        let fading = wave.fading;
        samples.push(fading);
    }

    fn symbol(&mut self, number: usize, bits: &[u8], rate: Rate, wave: &mut Wave<'_>) {
        self.coded_symbol(number, &encode(bits, rate.puncturing()), rate, wave);
    }

    /// Appends the symbol with this number; the SIGNAL field has number 0.
    fn coded_symbol(&mut self, number: usize, coded: &[u8], rate: Rate, wave: &mut Wave<'_>) {
        let bits = interleave(coded, &self.positions[rate.index()]);
        let mut points = [Complex32::default(); CARRIERS];
        let modulation = rate.modulation();
        for (point, bits) in points.iter_mut().zip(bits.chunks_exact(modulation.bits())) {
            *point = modulation.point(bits);
        }
        let mut values = spectrum(&points, self.polarity[number % self.polarity.len()]);
        self.transform.samples(&mut values);
        wave.append(&values, GUARD, SYMBOL);
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

/// A frame that is being written. The segments of a frame overlap in one sample, which has half of both
/// (figure 17-4 of the standard, as in its example).
struct Wave<'a> {
    samples: &'a mut Vec<Complex32>,
    /// Half of the sample that would follow the last segment.
    fading: Complex32,
}

impl Wave<'_> {
    /// Appends `count` samples of a signal that repeats after 64 samples, from `guard` samples before the
    /// beginning of a period.
    fn append(&mut self, period: &[Complex32; USEFUL], guard: usize, count: usize) {
        let sample = |at: usize| period[(at + USEFUL - guard) % USEFUL];
        self.samples.push(self.fading + sample(0) * 0.5);
        self.samples.extend((1..count).map(sample));
        self.fading = sample(count) * 0.5;
    }
}
