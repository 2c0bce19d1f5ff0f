//! The promises of the signal programs, checked from outside.

mod command;
mod experiments;
mod exploration;
mod fft;
mod fmradio;
mod jpeg;
mod kernels;
mod mutated;
mod random;
mod rivals;
mod staged;
mod wifi;
