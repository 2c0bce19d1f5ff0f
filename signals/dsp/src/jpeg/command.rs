//! The command `dsp jpeg`.

use std::path::PathBuf;

use clap::Args;

use crate::command::Shared;
use crate::{Input, Result};

use super::DEFAULT_BURST;

/// A JPEG picture to a portable pixmap (PPM), or to a portable graymap (PGM) if it is grey
#[derive(Debug, Args)]
pub struct Arguments {
    /// MCUs (units of 1 to 10 blocks) that pass through the network at a time
    #[arg(long, value_name = "MCUS", default_value_t = DEFAULT_BURST as u16)]
    burst: u16,
    /// The JPEG file; - is standard input
    input: PathBuf,
    /// The file for the picture; - is standard output
    output: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// If the file is not a JPEG file of a supported kind, is damaged or ends early, or if a file cannot be read or
/// written.
pub fn run(arguments: &Arguments, shared: &Shared) -> Result<()> {
    // The network depends on the picture, so the input is also read if it is only shown.
    let input = Input::open(&arguments.input, true)?;
    let mut output = shared.output(&arguments.output)?;
    let run = shared.run();
    super::decode(input, &mut output, arguments.burst.into(), &run)?;
    output.finish()?;
    shared.report(&run);
    Ok(())
}
