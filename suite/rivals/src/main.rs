//! The applications with other libraries. The suite runs this program, and asks it as
//! `anabranch_applications::serve` describes.
#![forbid(unsafe_code)]

mod applications;
mod ordered;

use std::env::args;
use std::process::ExitCode;

use anabranch_applications::{Program, serve};
use ordered::{Crossbeam, Orx, Pariter, Rayon, Threads, Tokio};

fn main() -> ExitCode {
    let mut programs = Vec::new();
    applications::add::<Rayon>(&mut programs);
    applications::add::<Orx>(&mut programs);
    applications::add::<Pariter>(&mut programs);
    applications::add::<Crossbeam>(&mut programs);
    applications::add::<Threads>(&mut programs);
    applications::add::<Tokio>(&mut programs);
    let arguments: Vec<String> = args().skip(1).collect();
    match serve(&programs, version, &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("anabranch-suite-rivals: {error}");
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
    let mut lines = include_str!("../Cargo.lock").lines();
    lines.find(|line| line.strip_prefix("name = ").map(|name| name.trim_matches('"')) == Some(package));
    let version = lines.next().and_then(|line| line.strip_prefix("version = "));
    version.map_or("?", |version| version.trim_matches('"')).to_owned()
}
