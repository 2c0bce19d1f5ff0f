//! The promises of records and process networks. Each promise has tests that try to break it. They are one program, so they are
//! linked once.
//!
//! With `--cfg loom` it holds the models of records instead, and with `--cfg shuttle` those of networks. They run in the checker's
//! threads and in no others.

#[cfg(loom)]
mod loom_outside;
#[cfg(loom)]
mod loom_record;
#[cfg(loom)]
#[path = "../../../record/tests/integration/model.rs"]
mod model;

#[cfg(shuttle)]
#[path = "../../../anabranch/tests/integration/model.rs"]
mod model;
#[cfg(shuttle)]
mod shuttle_networks;

/// Tools that the tests of streams use, too.
#[cfg(not(any(loom, shuttle)))]
#[path = "../../../anabranch/tests/integration/contract_support/mod.rs"]
mod contract_support;
#[cfg(not(any(loom, shuttle)))]
mod deadlocks;
#[cfg(not(any(loom, shuttle)))]
mod failures;
#[cfg(not(any(loom, shuttle)))]
mod kernels;
#[cfg(not(any(loom, shuttle)))]
mod lines;
#[cfg(not(any(loom, shuttle)))]
mod misuse;
#[cfg(not(any(loom, shuttle)))]
mod plans;
#[cfg(not(any(loom, shuttle)))]
mod random;
#[cfg(all(target_arch = "x86_64", not(any(loom, shuttle))))]
mod record_assembly;
#[cfg(not(any(loom, shuttle)))]
mod record_drops;
#[cfg(not(any(loom, shuttle)))]
mod record_model;
#[cfg(not(any(loom, shuttle)))]
mod record_one_to_one;
#[cfg(not(any(loom, shuttle)))]
mod record_outside;
#[cfg(not(any(loom, shuttle)))]
mod record_threads;
#[cfg(not(any(loom, shuttle)))]
mod record_views;
#[cfg(not(any(loom, shuttle)))]
mod registration;
#[cfg(not(any(loom, shuttle)))]
mod rules;
#[cfg(not(any(loom, shuttle)))]
mod shapes;
#[cfg(not(any(loom, shuttle)))]
mod stages;
#[cfg(not(any(loom, shuttle)))]
mod views;
