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
mod radio;
mod similarity;
mod sink;
mod words;

use measure_programs::{Program, sequential};

macro_rules! variants {
    ($($application:ident)*) => {
        [$(
            Program::new("builder", $application::builder::run),
            Program::new("annotations", $application::annotations::run),
            Program::new("ssp", $application::ssp::run),
        )*]
    };
}

/// The sequential programs, and Anabranch's variants.
pub fn programs() -> Vec<Program> {
    let mut programs = sequential();
    programs.extend(variants! {
        micro images bzip2 dedup log fastq gzip lzip similarity matmul farm bunzip2 lunzip files words lanes eyes radio sink
        order
    });
    programs.push(Program::new("dealt", lunzip::dealt::run));
    programs.push(Program::new("network", radio::network::run));
    crate::experiments::add(&mut programs);
    programs
}
