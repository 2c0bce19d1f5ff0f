//! The Fourier transforms of the signal programs.
//!
//! The planner of `rustfft` is generic. So each crate that calls it compiles all of its algorithms, which takes 20
//! seconds of a processor with optimisation. This crate calls it for all signal programs, so they are compiled once.
//!
//! ```
//! use dsp_transforms::num_complex::Complex32;
//!
//! let mut values = [Complex32::ONE; 4];
//! dsp_transforms::forward(4).process(&mut values);
//! assert_eq!(values[0], Complex32::new(4.0, 0.0));
//! ```
#![forbid(unsafe_code)]

use std::sync::Arc;

use rustfft::FftPlanner;
pub use rustfft::{Fft, num_complex};

/// Plans the transform of `size` samples to their spectrum.
pub fn forward(size: usize) -> Arc<dyn Fft<f32>> {
    FftPlanner::new().plan_fft_forward(size)
}

/// Plans the transform of a spectrum of `size` values to samples. They are not divided by `size`.
pub fn inverse(size: usize) -> Arc<dyn Fft<f32>> {
    FftPlanner::new().plan_fft_inverse(size)
}
