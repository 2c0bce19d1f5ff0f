//! Anabranch's variants of each application, one file each. They are run in processes of their own.

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
mod similarity;
mod sink;
mod words;

use anabranch_applications::{Kind, Program, sequential};

/// The sequential programs, and Anabranch's variants.
pub fn programs() -> Vec<Program> {
    let mut programs = sequential();
    programs.push(Program::new("builder", Kind::Streams, micro::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, micro::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, micro::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, images::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, images::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, images::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, bzip2::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, bzip2::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, bzip2::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, dedup::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, dedup::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, dedup::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, log::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, log::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, log::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, fastq::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, fastq::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, fastq::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, gzip::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, gzip::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, gzip::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, lzip::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, lzip::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, lzip::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, similarity::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, similarity::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, similarity::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, matmul::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, matmul::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, matmul::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, farm::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, farm::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, farm::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, bunzip2::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, bunzip2::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, bunzip2::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, lunzip::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, lunzip::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, lunzip::ssp::run));
    programs.push(Program::new("dealt", Kind::Collects, lunzip::dealt::run));
    programs.push(Program::new("builder", Kind::Streams, files::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, files::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, files::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, words::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, words::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, words::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, lanes::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, lanes::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, lanes::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, eyes::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, eyes::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, eyes::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, sink::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, sink::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, sink::ssp::run));
    programs.push(Program::new("builder", Kind::Streams, order::builder::run));
    programs.push(Program::new("annotations", Kind::Streams, order::annotations::run));
    programs.push(Program::new("ssp", Kind::Streams, order::ssp::run));
    crate::experiments::add(&mut programs);
    programs
}
