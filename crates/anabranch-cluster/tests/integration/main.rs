//! Remote functions, seen from outside. Tests that need a server start their own one.
#![forbid(unsafe_code)]

mod bodies;
mod faults;
mod local;
mod refused;
mod support;
mod wire;
