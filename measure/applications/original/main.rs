//! The variants `ssp` of the suite, with the original Rust-SSP. The suite writes this program: each module is the file of the
//! same name in `src/variants` or `src/contract`, with the original library in place of `anabranch::ssp`. `dedup` is not here: its
//! serial stage in the middle needs the order, which the original keeps in the last stage only.

mod bunzip2;
mod bzip2;
mod contract;
mod eyes;
mod farm;
mod fastq;
mod files;
mod gzip;
mod images;
mod lanes;
mod log;
mod lunzip;
mod lzip;
mod matmul;
mod micro;
mod order;
mod radio;
mod similarity;
mod sink;
mod words;

use std::process::ExitCode;

use measure_programs::contract::{Subject, answer};
use measure_programs::{Program, serve};

fn main() -> ExitCode {
    const NAME: &str = "rust-ssp";
    let programs = [
        Program::new(NAME, micro::run),
        Program::new(NAME, images::run),
        Program::new(NAME, bzip2::run),
        Program::new(NAME, log::run),
        Program::new(NAME, fastq::run),
        Program::new(NAME, gzip::run),
        Program::new(NAME, lzip::run),
        Program::new(NAME, similarity::run),
        Program::new(NAME, matmul::run),
        Program::new(NAME, farm::run),
        Program::new(NAME, bunzip2::run),
        Program::new(NAME, lunzip::run),
        Program::new(NAME, files::run),
        Program::new(NAME, words::run),
        Program::new(NAME, lanes::run),
        Program::new(NAME, eyes::run),
        Program::new(NAME, radio::run),
        Program::new(NAME, sink::run),
        Program::new(NAME, order::run),
    ];
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let answered = match arguments.split_first() {
        Some((first, rest)) if first == "contract" => answer(&[Subject::of::<contract::Ssp>()], rest),
        _ => serve(&programs, |_| "0.1.0".into(), &arguments),
    };
    match answered {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rust-ssp: {error}");
            ExitCode::FAILURE
        }
    }
}
