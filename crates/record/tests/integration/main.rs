//! Tests of the promises of this crate, from outside. They are one program, so they are linked once.
//!
//! With `--cfg loom` it holds the models instead, which run in loom's threads and in no others.
#![cfg_attr(loom, allow(unsafe_code))]

#[cfg(loom)]
mod loom_baton;
#[cfg(loom)]
mod loom_event;
#[cfg(loom)]
mod loom_inbox;
#[cfg(loom)]
mod loom_lanes;
#[cfg(loom)]
mod loom_pool;
#[cfg(loom)]
mod loom_room;
#[cfg(loom)]
mod model;
#[cfg(loom)]
mod ports;

#[cfg(not(any(loom, shuttle)))]
mod event_light;
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
#[allow(unsafe_code, reason = "the standard library has no fork")]
mod fork;
#[cfg(not(any(loom, shuttle)))]
mod inbox;
