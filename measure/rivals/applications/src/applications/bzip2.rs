//! The application `bzip2`.

use measure_programs::Output;
use measure_programs::bzip2::{Input, compress};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for stream in O::map(input.blocks(), workers, |block| compress(input, block)) {
        output.write(&stream);
    }
    output
}
