//! The programs of the command. A new program is a variant here, and a row in the table of the crate.

use clap::Subcommand;

use crate::{Result, fft, wifi};

use super::Shared;

#[derive(Debug, Subcommand)]
pub(super) enum Program {
    Fft(fft::command::Arguments),
    Wifi(wifi::command::Arguments),
}

impl Program {
    pub(super) fn run(&self, shared: &Shared) -> Result<()> {
        match self {
            Program::Fft(arguments) => fft::command::run(arguments, shared),
            Program::Wifi(arguments) => wifi::command::run(arguments, shared),
        }
    }
}
