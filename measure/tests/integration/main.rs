//! The measurements from outside, on tiny data.

mod browser;
mod contract;
mod data;
mod experiments;
mod exploration;
mod rivals;
mod studies;
mod suite;
