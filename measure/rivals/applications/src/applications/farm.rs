//! The application `farm`.

use measure_programs::Output;
use measure_programs::farm::{Input, compute};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for result in O::map(input.tasks(), workers, compute) {
        output.write(&result.to_le_bytes());
    }
    output
}
