//! OFDM symbols: their carriers, pilots and guard intervals (IEEE Std 802.11-2020, 17.3.5.9 and 17.3.5.10).

use std::sync::Arc;

use dsp_transforms::Fft;
use dsp_transforms::num_complex::Complex32;

use super::rate::CARRIERS;

/// Samples of a symbol without its guard interval, at 20 Msample/s: 3.2 µs.
pub const USEFUL: usize = 64;
/// Samples of a guard interval: 0.8 µs.
pub const GUARD: usize = 16;
/// Samples of a symbol with its guard interval: 4 µs.
pub const SYMBOL: usize = GUARD + USEFUL;

/// The carriers of the pilots. Their distance is [`PILOT_DISTANCE`].
pub const PILOTS: [i32; 4] = [-21, -7, 7, 21];
/// The pilots' values, before the polarity of the symbol.
pub const PILOT_VALUES: [f32; 4] = [1.0, 1.0, 1.0, -1.0];
/// Carriers from a pilot to the next.
pub const PILOT_DISTANCE: i32 = 14;

/// Returns the carriers with data, in the order in which points are put on them.
pub fn data_carriers() -> [i32; CARRIERS] {
    let mut carriers = (-26..=26).filter(|carrier| *carrier != 0 && !PILOTS.contains(carrier));
    std::array::from_fn(|_| carriers.next().expect("52 carriers less 4 pilots are 48"))
}

/// Returns the index of a carrier, from -32 to 31, in a spectrum of 64 values.
pub const fn bin(carrier: i32) -> usize {
    (carrier & 63) as usize
}

/// Transforms of 64 samples.
#[derive(Clone)]
pub struct Transform {
    forward: Arc<dyn Fft<f32>>,
    backward: Arc<dyn Fft<f32>>,
    scratch: Vec<Complex32>,
}

impl Transform {
    /// Makes the tables.
    pub fn new() -> Self {
        let (forward, backward) = (dsp_transforms::forward(USEFUL), dsp_transforms::inverse(USEFUL));
        let scratch = forward.get_inplace_scratch_len().max(backward.get_inplace_scratch_len());
        Self { forward, backward, scratch: vec![Complex32::default(); scratch] }
    }

    /// Transforms samples to their spectrum, which is not scaled.
    pub fn spectrum(&mut self, values: &mut [Complex32; USEFUL]) {
        self.forward.process_with_scratch(values, &mut self.scratch);
    }

    /// Transforms a spectrum to samples, divided by 64, as in the standard's example.
    pub fn samples(&mut self, values: &mut [Complex32; USEFUL]) {
        self.backward.process_with_scratch(values, &mut self.scratch);
        values.iter_mut().for_each(|value| *value *= 1.0 / USEFUL as f32);
    }
}

impl std::fmt::Debug for Transform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transform").finish_non_exhaustive()
    }
}

/// Returns the spectrum of a symbol with these points on its data carriers. `polarity` is the sign of its pilots.
pub fn spectrum(points: &[Complex32; CARRIERS], polarity: f32) -> [Complex32; USEFUL] {
    let mut spectrum = [Complex32::default(); USEFUL];
    for (carrier, point) in data_carriers().into_iter().zip(points) {
        spectrum[bin(carrier)] = *point;
    }
    for (carrier, value) in PILOTS.into_iter().zip(PILOT_VALUES) {
        spectrum[bin(carrier)] = (value * polarity).into();
    }
    spectrum
}
