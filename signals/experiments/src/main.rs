//! Measures the signal programs.
//!
//!     cargo run --release --manifest-path signals/Cargo.toml --bin signals -- experiments --quick
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    signals::main(std::env::args().skip(1))
}
