//! The application `bunzip2`.

use measure_programs::Output;
use measure_programs::bunzip2::{Input, decompress};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for block in O::map(input.streams(), workers, decompress) {
        output.write(&block);
    }
    output
}
