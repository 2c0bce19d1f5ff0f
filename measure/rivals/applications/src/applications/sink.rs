//! The application `sink`.

use measure_programs::Output;
use measure_programs::sink::{Input, fill, read};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for buffer in O::map(input.numbers(), workers, fill) {
        read(&mut output, &buffer);
    }
    output
}
