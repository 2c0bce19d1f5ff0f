//! `abz`: a parallel compressor. This is its story; each chapter is a module of [`command`].
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

use command::sandbox::Sandbox;
use command::{Console, bench, interrupt, jobs};

fn main() -> ExitCode {
    interrupt::remove_unfinished_files_without_memory();
    if let Some(went_well) = bench::child::run() {
        return if went_well { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let asked = match command::asked() {
        Ok(asked) => asked,
        Err(status) => return status,
    };
    if let Some(sandbox) = Sandbox::of(&asked) {
        sandbox.enter();
    }
    interrupt::remove_unfinished_files_on_signals(asked.maps());

    let mut console = Console::new(&asked);
    jobs::run(&asked, &mut console);
    console.exit_code()
}
