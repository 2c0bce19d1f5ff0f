//! The benchmark suite: applications with Anabranch and with other libraries, and one report.
//!
//!     cargo run --release -p suite -- run
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

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match command::Arguments::parse().run() {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("suite: {problem}");
            ExitCode::FAILURE
        }
    }
}
