//! A model of the radio channel: echoes, a frequency offset, and noise.

use std::f64::consts::TAU;

use dsp_transforms::num_complex::{Complex32, Complex64};

/// Samples in a second.
pub const SAMPLE_RATE_HZ: f64 = 20e6;

/// The mean power of a frame's samples: 52 carriers of power 1, with samples that are divided by 64.
pub const FRAME_POWER: f64 = 52.0 / 4_096.0;

/// A channel. It changes each part of a signal by itself, so that parts may be computed at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// The ratio of the mean power of the frames to the power of the noise within 20 MHz, in dB. `None` for no noise.
    pub snr_db: Option<f64>,
    /// The excess of the carrier over the receiver's frequency, in Hz.
    pub offset_hz: f64,
    /// The direct path and its echoes, each one sample after the other. An echo does not reach into the next
    /// part of the signal.
    pub taps: Vec<Complex32>,
    /// The state with which the noise begins.
    pub seed: u64,
}

impl Default for Channel {
    /// A channel that changes nothing.
    fn default() -> Self {
        Self { snr_db: None, offset_hz: 0.0, taps: vec![Complex32::ONE], seed: 0 }
    }
}

impl Channel {
    /// Changes part number `part` of a signal, whose first sample has the index `first` in the whole.
    pub fn apply(&self, part: u64, first: u64, samples: &mut [Complex32]) {
        if self.taps != [Complex32::ONE] {
            for at in (0..samples.len()).rev() {
                let taps = self.taps.iter().take(at + 1).enumerate();
                samples[at] = taps.map(|(delay, tap)| samples[at - delay] * tap).sum();
            }
        }
        if self.offset_hz != 0.0 {
            let turns = self.offset_hz / SAMPLE_RATE_HZ;
            for (at, sample) in (first..).zip(&mut *samples) {
                let phase = Complex64::cis(TAU * (turns * at as f64).fract());
                *sample *= Complex32::new(phase.re as f32, phase.im as f32);
            }
        }
        if let Some(snr_db) = self.snr_db {
            let mut noise = Noise::new(self.seed, part);
            let deviation = (FRAME_POWER / 10_f64.powf(snr_db / 10.0) / 2.0).sqrt() as f32;
            samples.iter_mut().for_each(|sample| *sample += noise.sample() * deviation);
        }
    }
}

/// Random numbers (G. L. Steele and others, *Fast Splittable Pseudorandom Number Generators*, 2014).
#[derive(Debug, Clone)]
pub struct Noise(u64);

impl Noise {
    /// Creates the generator for part number `part`.
    pub fn new(seed: u64, part: u64) -> Self {
        let mut seeds = Self(seed);
        Self(seeds.bits() ^ part.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number above 0, at most 1.
    fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a complex number whose two parts are normally distributed with variance 1 (the method of Box and
    /// Muller).
    pub fn sample(&mut self) -> Complex32 {
        let length = (-2.0 * self.unit().ln()).sqrt();
        let (sin, cos) = (TAU * self.unit()).sin_cos();
        Complex32::new((length * cos) as f32, (length * sin) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_the_power_that_is_asked_for() {
        let channel = Channel { snr_db: Some(3.0), ..Channel::default() };
        let mut samples = vec![Complex32::default(); 100_000];
        channel.apply(0, 0, &mut samples);
        let power: f64 = samples.iter().map(|sample| f64::from(sample.norm_sqr())).sum::<f64>() / 1e5;
        assert!((FRAME_POWER / power / 10_f64.powf(0.3) - 1.0).abs() < 0.02);
    }
}
