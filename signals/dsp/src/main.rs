//! The command `dsp`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    dsp::command::main()
}
