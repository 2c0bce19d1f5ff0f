//! `abz`: a parallel compressor. This is its story; each chapter is a module of [`command`].
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

use command::sandbox::Sandbox;
use command::{Console, bench, interrupt, jobs};

fn main() -> ExitCode {
    if let Some(went_well) = bench::child::run() {
        return if went_well { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let options = match command::options() {
        Ok(options) => options,
        Err(status) => return status,
    };
    if let Some(sandbox) = Sandbox::of(&options) {
        sandbox.enter();
    }
    interrupt::remove_unfinished_files_on_signals(options.maps());

    let mut console = Console::new(&options);
    jobs::run(&options, &mut console);
    console.exit_code()
}
