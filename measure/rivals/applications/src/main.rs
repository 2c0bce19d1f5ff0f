//! The applications with other libraries. The suite runs this program, and asks it as
//! `measure_programs::serve` describes.
#![forbid(unsafe_code)]

mod applications;
mod contract;
mod ordered;
mod queues;

use std::env::args;
use std::process::ExitCode;

use measure_harness::machine::locked_version;
use measure_programs::contract::{Subject, answer};
use measure_programs::{Program, serve};
use ordered::{Crossbeam, Ordered, Orx, ParStream, Pariter, Pipeliner, Rayon, Threads, Tokio};

/// The programs and the subjects of the libraries.
#[derive(Default)]
struct All {
    programs: Vec<Program>,
    subjects: Vec<Subject>,
}

impl All {
    fn with<O: Ordered>(mut self) -> Self {
        applications::add::<O>(&mut self.programs);
        self.subjects.push(contract::subject::<O>());
        self
    }
}

fn main() -> ExitCode {
    let mut all = All::default()
        .with::<Rayon>()
        .with::<Orx>()
        .with::<Pariter>()
        .with::<ParStream>()
        .with::<Pipeliner>()
        .with::<Crossbeam>()
        .with::<Threads>()
        .with::<Tokio>();
    queues::add(&mut all.programs);
    let arguments: Vec<String> = args().skip(1).collect();
    let answered = match arguments.split_first() {
        Some((first, rest)) if first == "contract" => answer(&all.subjects, rest),
        _ => serve(&all.programs, version, &arguments),
    };
    match answered {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("application-rivals: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The version of the library that `Cargo.lock` has.
fn version(program: &Program) -> String {
    let package = match program.variant {
        "threads" => return "std".into(),
        "crossbeam" => "crossbeam-channel",
        "orx" => "orx-parallel",
        name => name,
    };
    locked_version(include_str!("../../Cargo.lock"), package)
}
