//! The application `lunzip`.

use measure_programs::Output;
use measure_programs::lunzip::{Input, decompress};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for block in O::map(input.members(), workers, decompress) {
        output.write(&block);
    }
    output
}
