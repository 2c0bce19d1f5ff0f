//! Measures what the project promises about speed, and prints each promise with its number.
//!
//!     cargo run --release --manifest-path measure/Cargo.toml -- all
//!
//! `measure/RESULTS.md` has the results, and explains how to read them.
#![forbid(unsafe_code)]

mod abz;
mod against;
mod arguments;
mod automatic;
mod cluster;
mod core;
mod corpus;
mod cpp;
mod farms;
mod front;
mod futures;
mod inside;
mod lines;
mod look;
mod planted;
mod prediction;
mod processes;
mod python;
mod results;
mod rivals;
mod scaling;
mod suites;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use arguments::{Arguments, Form, usage};
use measure_harness::table::Table;

/// Measures what the words of a command line name.
pub fn main(words: impl IntoIterator<Item = String>) -> ExitCode {
    let words: Vec<String> = words.into_iter().collect();
    if let Some(code) = cluster::play(&words) {
        return code;
    }
    let arguments = match Arguments::parse(words) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{}", usage());
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("measure: {problem}\n\n{}", usage());
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("measure: a contender gave another result than the plain loop; its row names it");
            ExitCode::FAILURE
        }
        Err(problem) => {
            eprintln!("measure: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and prints one suite after another. Returns whether every result was right.
fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    if cfg!(debug_assertions) {
        eprintln!("This is a debug build, and its numbers mean nothing. Run it with --release.");
    }
    if let Some(number) = arguments.processes {
        return processes::measure(arguments, number);
    }
    let mut right = true;
    for suite in &arguments.suites {
        let table = match &arguments.against {
            None => suite.run(arguments.quick, arguments.only.clone()),
            Some(commit) => {
                let measure = |look: &look::Look| against::measure_against(commit, look);
                suites::table("core", measure, false, arguments.quick, arguments.only.clone())
            }
        };
        right &= table.results_were_right();
        if let Some(path) = &arguments.json {
            write(&table, path)?;
        }
        if arguments.update {
            for (name, text) in &table.tables {
                results::update("../RESULTS.md", name, text)?;
            }
        }
        if arguments.update && arguments.only.is_none() {
            write(&table, &folder_of_results()?.join(suite.name).with_extension("json"))?;
            results::update("../RESULTS.md", suite.name, &table.results())?;
            if suite.name == "abz" {
                results::update("../../crates/abz/README.md", "speed", &abz::in_short(&table.rows))?;
            }
        }
        match arguments.form {
            Form::Text => println!("{table}"),
            Form::Markdown => println!("{}", table.markdown()),
        }
    }
    Ok(right)
}

/// The folder of the numbers behind the tables of `RESULTS.md`, which is not committed.
fn folder_of_results() -> Result<PathBuf, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

fn write(table: &Table, path: &Path) -> Result<(), Box<dyn Error>> {
    let json = serde_json::to_string_pretty(table)? + "\n";
    std::fs::write(path, json).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(())
}
