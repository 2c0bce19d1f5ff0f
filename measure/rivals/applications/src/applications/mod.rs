//! The applications on any ordered map, one file each. Parallel stages that follow one another are one call of
//! the map, which is the fastest way to run them with these libraries.

mod bunzip2;
mod bzip2;
mod dedup;
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

use measure_programs::Program;

use crate::ordered::Ordered;

/// Adds all applications with one library.
pub fn add<O: Ordered>(programs: &mut Vec<Program>) {
    let (name, kind) = (O::NAME, O::KIND);
    programs.extend([
        Program::new(name, kind, micro::run::<O>),
        Program::new(name, kind, images::run::<O>),
        Program::new(name, kind, bzip2::run::<O>),
        Program::new(name, kind, dedup::run::<O>),
        Program::new(name, kind, log::run::<O>),
        Program::new(name, kind, fastq::run::<O>),
        Program::new(name, kind, gzip::run::<O>),
        Program::new(name, kind, lzip::run::<O>),
        Program::new(name, kind, similarity::run::<O>),
        Program::new(name, kind, matmul::run::<O>),
        Program::new(name, kind, farm::run::<O>),
        Program::new(name, kind, bunzip2::run::<O>),
        Program::new(name, kind, lunzip::run::<O>),
        Program::new(name, kind, files::run::<O>),
        Program::new(name, kind, words::run::<O>),
        Program::new(name, kind, lanes::run::<O>),
        Program::new(name, kind, eyes::run::<O>),
        Program::new(name, kind, radio::run::<O>),
        Program::new(name, kind, sink::run::<O>),
        Program::new(name, kind, order::run::<O>),
    ]);
}
