//! The promises of process networks. Each promise has tests that try to break it.

mod deadlocks;
mod failures;
mod kernels;
mod lines;
mod random;
mod registration;
mod rules;
mod shapes;
mod stages;
mod views;
