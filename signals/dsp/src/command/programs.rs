//! The programs of the command. A new program is a variant here, and a row in the table of the crate.

use clap::Subcommand;

use crate::{Result, fft, fmradio, jpeg, kernels, wifi};

use super::Shared;

#[derive(Debug, Subcommand)]
pub(super) enum Program {
    Fft(fft::command::Arguments),
    Jpeg(jpeg::command::Arguments),
    Wifi(wifi::command::Arguments),
    Fmradio(fmradio::command::Arguments),
    Kernels(kernels::command::Arguments),
}

impl Program {
    pub(super) fn run(&self, shared: &Shared) -> Result<()> {
        match self {
            Program::Fft(arguments) => fft::command::run(arguments, shared),
            Program::Jpeg(arguments) => jpeg::command::run(arguments, shared),
            Program::Wifi(arguments) => wifi::command::run(arguments, shared),
            Program::Fmradio(arguments) => fmradio::command::run(arguments, shared),
            Program::Kernels(arguments) => kernels::command::run(arguments, shared),
        }
    }
}
