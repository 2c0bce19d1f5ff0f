//! Measures what the project promises, and prints each promise beside its number.
//!
//!     cargo run --release -p anabranch-bench -- core
//!
//! `README.md` says what each number means and how to read the table.
#![forbid(unsafe_code)]

mod arguments;
mod core;
mod machine;
mod readme;
mod rounds;
mod statistics;
mod table;
mod target;
mod work;

use std::error::Error;
use std::process::ExitCode;

use arguments::{Arguments, Form, USAGE};
use machine::{Machine, load};
use table::Table;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("anabranch-bench: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("anabranch-bench: a contender's result was not the plain loop's");
            ExitCode::FAILURE
        }
        Err(problem) => {
            eprintln!("anabranch-bench: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and prints; whether every result was right.
fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    if cfg!(debug_assertions) {
        eprintln!("This is a debug build: its numbers mean nothing. Add --release.");
    }
    let machine = Machine::of_this_run();
    let before = load();
    let (rows, seconds) = core::measure(arguments.quick, arguments.only.as_deref());
    let table = Table { machine, load: (before, load()), quick: arguments.quick, seconds, rows };
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&table)? + "\n")
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if arguments.update_readme {
        readme::update("core", &table.markdown())?;
    }
    match arguments.form {
        Form::Text => print!("{table}"),
        Form::Markdown => print!("{}", table.markdown()),
    }
    Ok(table.results_were_right())
}
