//! A test signal: a station that sends one tone.

use std::f64::consts::TAU;

use crate::{Error, Output, Result};

use super::{LEAST_RATE, MOST_RATE};

/// A station that sends a tone and the pilot tone of stereo stations, without emphasis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tone {
    /// The frequency in Hz, from 20 to 15,000.
    pub hertz: f64,
    /// The duration in seconds.
    pub seconds: f64,
    /// Samples per second.
    pub rate: u32,
    /// The power of the signal over that of the noise in dB. `None` for a signal without noise.
    pub snr: Option<f64>,
}

/// The deviation for the tone in Hz.
const TONE_DEVIATION: f64 = 37_500.0;
/// The deviation for the pilot tone in Hz.
const PILOT_DEVIATION: f64 = 7_500.0;
/// The frequency of the pilot tone in Hz.
const PILOT_HERTZ: f64 = 19_000.0;
/// The amplitude of the signal, in steps of the samples.
const AMPLITUDE: f64 = 96.0;

/// Writes the samples of a test signal.
///
/// # Errors
/// If a value of the tone is not possible, or the output cannot be written.
pub fn test_tone(output: &mut Output<'_>, tone: &Tone) -> Result<()> {
    let Tone { hertz, seconds, rate, snr } = *tone;
    if !(20.0..=15_000.0).contains(&hertz) {
        return Err(Error::new(format!("--test-tone must be from 20 to 15000 Hz, not {hertz}")));
    }
    if !(0.0..=1e6).contains(&seconds) {
        return Err(Error::new(format!("--seconds must be from 0 to 1000000, not {seconds}")));
    }
    if !(LEAST_RATE..=MOST_RATE).contains(&rate) {
        return Err(Error::new(format!("--rate must be from {LEAST_RATE} to {MOST_RATE}, not {rate}")));
    }
    let noise = match snr {
        None => 0.0,
        Some(snr) if (-100.0..=200.0).contains(&snr) => AMPLITUDE * 10f64.powf(-snr / 20.0) / 2f64.sqrt(),
        Some(snr) => return Err(Error::new(format!("--snr must be from -100 to 200 dB, not {snr}"))),
    };
    let mut random = Noise(0x2545_f491_4f6c_dd1d);
    let mut bytes = Vec::with_capacity(1 << 16);
    for n in 0..(seconds * f64::from(rate)).round() as u64 {
        let time = n as f64 / f64::from(rate);
        // The phase is the integral of the frequency.
        let phase = TONE_DEVIATION / hertz * (1.0 - (TAU * hertz * time).cos())
            + PILOT_DEVIATION / PILOT_HERTZ * (1.0 - (TAU * PILOT_HERTZ * time).cos());
        let (sin, cos) = phase.sin_cos();
        for part in [cos, sin] {
            bytes.push((127.5 + AMPLITUDE * part + noise * random.normal()).round() as u8);
        }
        if bytes.len() + 2 > bytes.capacity() {
            output.put(&bytes)?;
            bytes.clear();
        }
    }
    output.put(&bytes)
}

/// Noise that is the same in every run (G. Marsaglia, *Xorshift RNGs*, 2003).
struct Noise(u64);

impl Noise {
    /// Returns a number from 0 to 1.
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number with the normal distribution (G. Box and M. Muller, 1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}
