//! The experiments of the papers on FastFlow and on SPar, in today's form.
//!
//! Each is like an application: it has data, a sequential program and variants that must give the same. The name of a workload
//! has the settings of an experiment, so a process of its own measures each setting.

pub mod accelerator;
pub mod bursts;
pub mod compression;
pub mod memory;
pub mod operations;
pub mod queue;
pub mod skew;

/// The work of an item: a chain of xorshift steps of about 2 ns each.
pub fn steps(seed: u64, steps: u32) -> u64 {
    (0..steps).fold(seed, |mut state, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^ (state << 17)
    })
}
