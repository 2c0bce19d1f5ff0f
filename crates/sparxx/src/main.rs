//! spar++: translates SPar's annotations and calls a C++ compiler.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(sparxx::command::run(std::env::args_os().skip(1)))
}
