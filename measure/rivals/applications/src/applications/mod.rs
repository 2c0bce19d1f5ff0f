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

macro_rules! programs {
    ($($application:ident)*) => {
        [$(Program::new(O::NAME, $application::run::<O>),)*]
    };
}

/// Adds all applications with one library.
pub fn add<O: Ordered>(programs: &mut Vec<Program>) {
    programs.extend(programs! {
        micro images bzip2 dedup log fastq gzip lzip similarity matmul farm bunzip2 lunzip files words lanes eyes radio sink
        order
    });
}
