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
    /// A description of the computation.
    pub about: &'static str,
    /// The unit in which the speed is given.
    pub unit: &'static str,
    /// The number of these units in a block.
    pub units: u64,
    run: fn(&Task, &Run) -> Result<Digest>,
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Kernel; 5] =
        [beamformer::KERNEL, bitonic::KERNEL, des::KERNEL, filterbank::KERNEL, vocoder::KERNEL];

    /// Runs the kernel in the form of `run`.
    ///
    /// # Errors
    /// If the network cannot run.
    pub fn run(&self, task: &Task, run: &Run) -> Result<Digest> {
        (self.run)(task, run)
    }
}

/// The number of blocks that pass through a network in one firing by default. A firing of one block of the bitonic sort
/// takes as long as the overhead of a rule.
pub const DEFAULT_BURST: usize = 8;

/// The amount of computation of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The number of blocks.
    pub blocks: u64,
    /// The number of blocks that pass in one firing, at least 1.
    pub burst: usize,
}

impl Task {
    /// Returns the number of calls of each stage.
    fn firings(&self) -> u64 {
        self.blocks.div_ceil(self.burst as u64)
    }
}
