//! Kernels of the StreamIt benchmarks (W. Thies and S. Amarasinghe, *An Empirical Characterization of Stream
//! Programs and its Implications for Language and Compiler Design*, PACT 2010), each as a loop and as a network.
//!
//! A kernel makes its own input, and its result is a [`Digest`] of everything that comes out. Both forms give
//! the same digest.

mod beamformer;
mod bitonic;
pub mod command;
pub mod des;
mod digest;
mod filterbank;
mod lay;
mod noise;
mod vocoder;

use crate::{Result, Run};

pub use digest::Digest;

/// A kernel.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it computes.
    pub about: &'static str,
    /// What it counts, for the speed.
    pub unit: &'static str,
    /// How many of these units are in a block.
    pub units: u64,
    run: fn(&Task, &Run) -> Result<Digest>,
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Kernel; 5] =
        [beamformer::KERNEL, bitonic::KERNEL, des::KERNEL, filterbank::KERNEL, vocoder::KERNEL];

    /// Runs the kernel in the form that `run` says.
    ///
    /// # Errors
    /// If the network cannot run.
    pub fn run(&self, task: &Task, run: &Run) -> Result<Digest> {
        (self.run)(task, run)
    }
}

/// Blocks that pass through a network in one firing, unless something else is asked for. A firing of one block of the bitonic
/// sort takes as long as it takes to fire a rule.
pub const DEFAULT_BURST: usize = 8;

/// How much a kernel computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The number of blocks.
    pub blocks: u64,
    /// How many blocks pass in one firing. At least 1.
    pub burst: usize,
}

impl Task {
    /// How often each stage is called.
    fn firings(&self) -> u64 {
        self.blocks.div_ceil(self.burst as u64)
    }
}
