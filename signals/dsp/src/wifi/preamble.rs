//! The training symbols before each frame (IEEE Std 802.11-2020, 17.3.3).

use dsp_transforms::num_complex::Complex32;

use super::symbols::{USEFUL, bin};

/// Samples of each half of the preamble.
pub const HALF: usize = 160;
/// Samples of a short training symbol. The first half of the preamble has ten of them.
pub const SHORT: usize = 16;
/// Samples of the guard interval before the two long training symbols.
pub const LONG_GUARD: usize = 32;

/// Returns the spectrum of the short training symbols: 12 carriers, each a multiple of 4, so that the samples repeat
/// after 16.
pub fn short_spectrum() -> [Complex32; USEFUL] {
    const SIGNS: [(i32, f32); 12] = [
        (-24, 1.0),
        (-20, -1.0),
        (-16, 1.0),
        (-12, -1.0),
        (-8, -1.0),
        (-4, 1.0),
        (4, -1.0),
        (8, -1.0),
        (12, 1.0),
        (16, 1.0),
        (20, 1.0),
        (24, 1.0),
    ];
    let size = (13.0_f32 / 6.0).sqrt();
    let mut spectrum = [Complex32::default(); USEFUL];
    for (carrier, sign) in SIGNS {
        spectrum[bin(carrier)] = Complex32::new(size * sign, size * sign);
    }
    spectrum
}

/// Returns the values of the long training symbols' 52 carriers, all 1 or -1, at the places of a spectrum. The other
/// values are 0.
pub fn long_spectrum() -> [f32; USEFUL] {
    const LOW: &[u8; 26] = b"++--++-+-++++++--++-+-++++";
    const HIGH: &[u8; 26] = b"+--++-+-+-----++--+-+-++++";
    let mut spectrum = [0.0; USEFUL];
    let signs = (-26..0).zip(LOW).chain((1..=26).zip(HIGH));
    for (carrier, sign) in signs {
        spectrum[bin(carrier)] = if *sign == b'+' { 1.0 } else { -1.0 };
    }
    spectrum
}
