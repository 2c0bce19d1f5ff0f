//! Remote functions, seen from outside. Tests that need a server start their own one.
#![forbid(unsafe_code)]

mod bodies;
mod chapter;
mod faults;
mod fleet;
mod journal;
mod link;
mod local;
mod proxy;
mod random;
mod refused;
mod rendered;
mod slow;
mod support;
mod told;
mod types;
mod unwilling;
mod wire;
#[cfg(not(feature = "tls"))]
mod without_tls;
