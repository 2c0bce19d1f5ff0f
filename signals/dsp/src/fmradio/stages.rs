//! The stages that are no filters.

use std::f64::consts::TAU;

use super::{BANDS, DEVIATION_HERTZ, Radio};

/// Turns a change of the frequency into amplitude.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demodulator {
    gain: f32,
}

impl Demodulator {
    pub(super) fn new(radio: &Radio) -> Self {
        Self { gain: (radio.channel_rate() / (TAU * DEVIATION_HERTZ)) as f32 }
    }

    /// Computes `to` from the samples that it takes and one more.
    pub(super) fn apply(self, in_phase: &[f32], quadrature: &[f32], to: &mut [f32]) {
        for (n, output) in to.iter_mut().enumerate() {
            let ((a, b), (c, d)) = ((in_phase[n], quadrature[n]), (in_phase[n + 1], quadrature[n + 1]));
            // The angle of the second sample times the conjugate of the first.
            *output = self.gain * (a * d - b * c).atan2(a * c + b * d);
        }
    }
}

/// Adds the bands, applies the de-emphasis, and rounds to 16 bits.
#[derive(Debug, Clone)]
pub(super) struct Mixer {
    /// The fraction of the difference to a new value by which the output changes.
    follow: f32,
    last: f32,
}

impl Mixer {
    pub(super) fn new(radio: &Radio) -> Self {
        let rate = radio.channel_rate() / f64::from(radio.audio_step());
        let follow =
            if radio.de_emphasis > 0.0 { 1.0 - (-1.0 / (rate * radio.de_emphasis)).exp() } else { 1.0 };
        Self { follow: follow as f32, last: 0.0 }
    }

    /// Mixes a burst of each band; `bands` has one burst behind the other.
    pub(super) fn apply(&mut self, bands: &[f32], to: &mut [i16]) {
        let burst = to.len();
        for (n, output) in to.iter_mut().enumerate() {
            let sum = (0..BANDS).fold(0.0, |sum, band| sum + bands[band * burst + n]);
            self.last += self.follow * (sum - self.last);
            // Beyond 16 bits the conversion gives the nearest number.
            *output = (f32::from(i16::MAX) * self.last).round() as i16;
        }
    }
}
