//! Tests of the promises of this crate, from outside. They are one program, so they are linked once.
//!
//! With `--cfg shuttle` it holds the models instead, which run in shuttle's threads and in no others.

#[cfg(shuttle)]
mod model;
#[cfg(shuttle)]
mod shuttle_branches;
#[cfg(shuttle)]
mod shuttle_channel;
#[cfg(shuttle)]
mod shuttle_detached;
#[cfg(shuttle)]
mod shuttle_failures;
#[cfg(shuttle)]
mod shuttle_futures;
#[cfg(shuttle)]
mod shuttle_needing;
#[cfg(shuttle)]
mod shuttle_pauses;
#[cfg(shuttle)]
mod shuttle_pools;
#[cfg(shuttle)]
mod shuttle_rendezvous;
#[cfg(shuttle)]
mod shuttle_runs;
#[cfg(shuttle)]
mod shuttle_shards;
#[cfg(shuttle)]
mod shuttle_ssp;

#[cfg(not(shuttle))]
mod annotations;
#[cfg(not(shuttle))]
mod blocks;
#[cfg(not(shuttle))]
mod branches;
#[cfg(not(shuttle))]
mod channel;
#[cfg(not(shuttle))]
mod clean;
#[cfg(not(shuttle))]
mod compiler;
#[cfg(not(shuttle))]
mod contract_corners;
#[cfg(not(shuttle))]
mod contract_failures;
#[cfg(not(shuttle))]
mod contract_flow;
#[cfg(not(shuttle))]
mod contract_leftovers;
#[cfg(not(shuttle))]
mod contract_shards;
#[cfg(not(shuttle))]
mod contract_stops;
#[cfg(not(shuttle))]
mod contract_support;
#[cfg(not(shuttle))]
mod contract_types;
#[cfg(not(shuttle))]
mod deferred;
#[cfg(not(shuttle))]
mod examples;
#[cfg(not(shuttle))]
mod futures;
#[cfg(not(shuttle))]
mod generator;
#[cfg(not(shuttle))]
mod large;
#[cfg(not(shuttle))]
mod limits;
#[cfg(not(shuttle))]
mod map_async;
#[cfg(not(shuttle))]
mod misuse;
#[cfg(not(shuttle))]
mod offload;
#[cfg(not(shuttle))]
mod one_plan;
#[cfg(not(shuttle))]
mod one_type;
#[cfg(not(shuttle))]
mod operators;
#[cfg(not(shuttle))]
mod passes;
#[cfg(not(shuttle))]
mod pooled;
#[cfg(not(shuttle))]
mod report;
#[cfg(not(shuttle))]
mod reports;
#[cfg(not(shuttle))]
mod select;
#[cfg(not(shuttle))]
mod shutdown;
#[cfg(not(shuttle))]
mod soak;
#[cfg(not(shuttle))]
mod ssp;
#[cfg(not(shuttle))]
mod whole;
#[cfg(not(shuttle))]
mod windows;
