//! The promises of process networks. Each promise has tests that try to break it. They are one program, so they are linked once.
//!
//! With `--cfg shuttle` it holds the models instead, which run in shuttle's threads and in no others.

#[cfg(shuttle)]
#[path = "../../../anabranch/tests/integration/model.rs"]
mod model;
#[cfg(shuttle)]
mod shuttle_networks;

/// What the tests of streams use, too.
#[cfg(not(shuttle))]
#[path = "../../../anabranch/tests/integration/contract_support/mod.rs"]
mod contract_support;
#[cfg(not(shuttle))]
mod deadlocks;
#[cfg(not(shuttle))]
mod failures;
#[cfg(not(shuttle))]
mod kernels;
#[cfg(not(shuttle))]
mod lines;
#[cfg(not(shuttle))]
mod misuse;
#[cfg(not(shuttle))]
mod random;
#[cfg(not(shuttle))]
mod registration;
#[cfg(not(shuttle))]
mod rules;
#[cfg(not(shuttle))]
mod shapes;
#[cfg(not(shuttle))]
mod stages;
#[cfg(not(shuttle))]
mod views;
