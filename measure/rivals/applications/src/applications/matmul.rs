//! The application `matmul`.

use measure_programs::Output;
use measure_programs::matmul::{Input, multiply};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for product in O::map(input.pairs(), workers, multiply) {
        output.write(&product);
    }
    output
}
