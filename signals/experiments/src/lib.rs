//! Experiments with the signal programs of `dsp`, and the paper's synthetic benchmark.
//!
//!     cargo run --release --manifest-path signals/Cargo.toml --bin signals -- experiments --quick
#![forbid(unsafe_code)]

pub mod arrivals;
pub mod experiments;
pub mod exploration;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use dsp::command::Shared;

/// Measures the signal programs.
#[derive(Debug, Parser)]
#[command(name = "signals", version, max_term_width = 100)]
struct CommandLine {
    #[command(flatten)]
    shared: Shared,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Experiments(experiments::command::Arguments),
    Exploration(exploration::command::Arguments),
}

/// Does what the words of a command line say, without the name of the program. Returns 0 if it went well, 1 if the input is bad or
/// a program has failed otherwise, and ends the process with 2 if the words are wrong.
pub fn main(words: impl IntoIterator<Item = String>) -> ExitCode {
    let CommandLine { shared, what } =
        CommandLine::parse_from(["signals".to_owned()].into_iter().chain(words));
    #[cfg(unix)]
    dsp::command::remove_unfinished_files();
    let ended = match &what {
        What::Experiments(arguments) => experiments::command::run(arguments, &shared),
        What::Exploration(arguments) => exploration::command::run(arguments, &shared),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the pipe has seen enough.
        Err(error) if error.is_broken_pipe() => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("signals: {error}");
            ExitCode::FAILURE
        }
    }
}
