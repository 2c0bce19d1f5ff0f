//! The promises of the signal programs, checked from outside.

mod command;
mod fft;
mod random;
mod wifi;
