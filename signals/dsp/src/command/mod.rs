//! The command line of `dsp`.

mod programs;
mod shared;
#[cfg(unix)]
mod signals;

use std::process::ExitCode;

use clap::Parser;

pub use shared::Shared;
#[cfg(unix)]
pub use signals::remove_unfinished_files;

/// Signal programs as process networks.
#[derive(Debug, Parser)]
#[command(name = "dsp", version, max_term_width = 100)]
struct CommandLine {
    #[command(flatten)]
    shared: Shared,
    #[command(subcommand)]
    program: programs::Program,
}

/// Runs the program that the arguments of the process name. Exits with 0 if it went well, with 1 if the input
/// is bad or the program has failed otherwise, and with 2 if the arguments are wrong.
pub fn main() -> ExitCode {
    let CommandLine { shared, program } = CommandLine::parse();
    #[cfg(unix)]
    remove_unfinished_files();
    match program.run(&shared) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the pipe has seen enough.
        Err(error) if error.is_broken_pipe() => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("dsp: {error}");
            ExitCode::FAILURE
        }
    }
}
