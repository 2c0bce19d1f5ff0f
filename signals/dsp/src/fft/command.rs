//! The command `dsp fft`.

use std::path::PathBuf;

use clap::Args;

use crate::Result;
use crate::command::Shared;

use super::{Shape, Split, transform};

/// Fourier transforms of blocks of complex samples (little-endian f32 pairs)
#[derive(Debug, Args)]
pub struct Arguments {
    /// The number of samples of a block: a power of two from 256 to 1048576
    #[arg(long, value_name = "N")]
    size: usize,
    /// How the network shares the work
    #[arg(long, value_enum, default_value = "data")]
    split: Split,
    /// The number of copies of each stage; 0 for as many as there are workers
    #[arg(long, value_name = "N", default_value_t = 0)]
    copies: u16,
    /// The number of blocks that pass in one firing [default: as many as have 4096 samples]
    #[arg(long, value_name = "BLOCKS")]
    burst: Option<std::num::NonZeroU16>,
    /// The file with the samples; - is standard input
    input: PathBuf,
    /// The file for the spectra; - is standard output
    output: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// If the size is not possible, the input is not whole blocks, or a file cannot be read or written.
pub fn run(arguments: &Arguments, shared: &Shared) -> Result<()> {
    let mut shape = Shape::new(arguments.size, arguments.split)?.copies(arguments.copies.into());
    if let Some(burst) = arguments.burst {
        shape = shape.burst(burst.get().into());
    }
    let input = shared.input(&arguments.input)?;
    let mut output = shared.output(&arguments.output)?;
    let run = shared.run();
    transform(input, &mut output, &shape, &run)?;
    output.finish()?;
    shared.report(&run);
    Ok(())
}
