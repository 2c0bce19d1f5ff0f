//! The measurements from outside, on tiny data.

mod browser;
mod contract;
mod data;
mod rivals;
mod studies;
mod suite;
