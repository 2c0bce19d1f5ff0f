//! Fourier transforms of blocks of complex samples.
//!
//! A file has block after block of `size` samples, and so has the result. A sample is two little-endian
//! numbers of the type `f32`: the real part and the imaginary part. The transforms are not scaled:
//! *X*\[*k*\] = Σ *x*\[*n*\] exp(-2π i *n* *k* / size).
//!
//! [`Split`] determines how the network shares the work. `Data` gives each copy of one process whole blocks, which
//! `rustfft` transforms, so the result has the same bits as the sequential form. `Pipeline` and `Both` cut a transform
//! into stages (D. H. Bailey, *FFTs in External or Hierarchical Memory*, 1990). Their error is at most [`TOLERANCE`] of
//! the block's largest value.

pub mod command;
mod kernels;
mod network;
mod samples;
mod staged;

use crate::{Error, Input, Output, Result, Run};

use kernels::Whole;
use samples::{Source, Target};

pub use staged::{Stages, transform_by};

/// A complex sample.
pub type Complex = dsp_transforms::num_complex::Complex<f32>;

/// The largest error of a network's value against the sequential form, as a part of the largest value of its block.
pub const TOLERANCE: f32 = 1e-5;

/// The smallest number of samples of a block.
pub const LEAST: usize = 1 << 8;
/// The largest number of samples of a block.
pub const MOST: usize = 1 << 20;

/// How the network shares the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Split {
    /// Copies of one process take turns with the blocks
    Data,
    /// A block passes through the stages of a transform
    Pipeline,
    /// Copies of the stages take turns with the blocks
    Both,
}

/// The shape of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    size: usize,
    split: Split,
    copies: usize,
    burst: usize,
}

/// The least number of samples of a firing, unless the burst is set.
const SAMPLES_IN_FIRING: usize = 4_096;

impl Shape {
    /// Creates the shape of transforms of blocks of `size` samples, a power of two from [`LEAST`] to [`MOST`].
    ///
    /// # Errors
    /// If the size is another number.
    pub fn new(size: usize, split: Split) -> Result<Self> {
        if !size.is_power_of_two() || !(LEAST..=MOST).contains(&size) {
            return Err(Error::new(format!(
                "a block cannot have {size} samples: --size must be a power of two from {LEAST} to {MOST}"
            )));
        }
        Ok(Self { size, split, copies: 0, burst: SAMPLES_IN_FIRING.div_ceil(size) })
    }

    /// Sets how many copies each stage has. With 0, the default, there are as many as workers. It has no effect with
    /// [`Split::Pipeline`].
    pub fn copies(mut self, copies: usize) -> Self {
        self.copies = copies;
        self
    }

    /// Sets how many blocks pass in one firing, at least 1.
    pub fn burst(mut self, blocks: usize) -> Self {
        self.burst = blocks.max(1);
        self
    }

    /// Returns the number of samples that pass in one firing.
    pub fn samples(&self) -> usize {
        self.size * self.burst
    }

    fn copies_on(&self, workers: usize) -> usize {
        match (self.split, self.copies) {
            (Split::Pipeline, _) => 1,
            (_, 0) => workers,
            (_, copies) => copies,
        }
    }
}

/// Transforms all blocks of `input`.
///
/// # Errors
/// If the input ends within a block, or if a file cannot be read or written.
pub fn transform(input: Input<'_>, output: &mut Output<'_>, shape: &Shape, run: &Run) -> Result<()> {
    let source = Source::new(input, shape.size);
    let target = Target::new(output);
    if run.is_inline() {
        inline(source, target, shape, run)
    } else {
        network::transform(source, target, shape, run)
    }
}

/// The sequential form: a loop over the blocks.
fn inline(mut source: Source<'_>, mut target: Target<'_, '_>, shape: &Shape, run: &Run) -> Result<()> {
    let (read, fft, write) =
        (run.meters().stage("read"), run.meters().stage("transform"), run.meters().stage("write"));
    let mut whole = Whole::new(shape.size);
    let mut block = vec![Complex::default(); shape.size];
    let mut spectrum = block.clone();
    while read.time(|| source.fill(&mut block))? > 0 {
        fft.time(|| whole.transform(&block, &mut spectrum));
        write.time(|| target.put(&spectrum))?;
    }
    Ok(())
}
