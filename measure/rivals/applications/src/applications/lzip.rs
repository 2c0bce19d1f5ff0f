//! The application `lzip`.

use measure_programs::Output;
use measure_programs::lzip::{Input, compress};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for member in O::map(input.blocks(), workers, compress) {
        output.write(&member);
    }
    output
}
