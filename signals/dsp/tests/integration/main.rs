//! The promises of the signal programs, checked from outside.

mod command;
mod fft;
mod fmradio;
mod jpeg;
mod kernels;
mod mutated;
mod random;
mod staged;
mod wifi;
