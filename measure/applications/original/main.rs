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
use measure_programs::{Kind, Program, serve};

fn main() -> ExitCode {
    const NAME: &str = "rust-ssp";
    let programs = [
        Program::new(NAME, Kind::Streams, micro::run),
        Program::new(NAME, Kind::Streams, images::run),
        Program::new(NAME, Kind::Streams, bzip2::run),
        Program::new(NAME, Kind::Streams, log::run),
        Program::new(NAME, Kind::Streams, fastq::run),
        Program::new(NAME, Kind::Streams, gzip::run),
        Program::new(NAME, Kind::Streams, lzip::run),
        Program::new(NAME, Kind::Streams, similarity::run),
        Program::new(NAME, Kind::Streams, matmul::run),
        Program::new(NAME, Kind::Streams, farm::run),
        Program::new(NAME, Kind::Streams, bunzip2::run),
        Program::new(NAME, Kind::Streams, lunzip::run),
        Program::new(NAME, Kind::Streams, files::run),
        Program::new(NAME, Kind::Streams, words::run),
        Program::new(NAME, Kind::Streams, lanes::run),
        Program::new(NAME, Kind::Streams, eyes::run),
        Program::new(NAME, Kind::Streams, radio::run),
        Program::new(NAME, Kind::Streams, sink::run),
        Program::new(NAME, Kind::Streams, order::run),
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
