//! `abz`: a parallel gzip. This is its story; each chapter is a module of [`command`].
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

use command::{Console, Options, interrupt, jobs};

fn main() -> ExitCode {
    let options = match Options::from_command_line() {
        Ok(options) => options,
        Err(status) => return status,
    };
    interrupt::remove_unfinished_files_on_signals();

    let mut console = Console::new(&options);
    jobs::run(&options, &mut console);
    console.exit_code()
}
