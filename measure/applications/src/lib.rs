//! The benchmark suite: applications with Anabranch and with other libraries, and one report.
//!
//!     cargo run --release --manifest-path measure/Cargo.toml -- suite run
//!
//! `README.md` says what is measured and how to read the report.
#![forbid(unsafe_code)]

mod arguments;
mod checkouts;
mod choice;
mod code;
mod command;
mod compare;
mod contract;
mod data;
mod experiments;
mod group;
mod original;
mod pictures;
mod players;
mod process;
mod programs;
mod progress;
mod report;
mod results;
mod services;
mod session;
mod standing;
mod studies;
mod systems;
mod variants;

pub use checkouts::Checkouts;
pub use data::Chosen;
pub use process::{Answer, Process};
pub use programs::Programs;
pub use systems::{SEQUENTIAL, streams};

use std::process::ExitCode;

use clap::Parser;

/// Does what the words of a command line say, without the name of the program.
pub fn main(words: impl IntoIterator<Item = String>) -> ExitCode {
    let words = ["suite".to_owned()].into_iter().chain(words);
    match command::Arguments::parse_from(words).run() {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("suite: {problem}");
            ExitCode::FAILURE
        }
    }
}
