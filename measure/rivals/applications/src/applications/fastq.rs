//! The application `fastq`.

use measure_programs::Output;
use measure_programs::fastq::{Input, trim};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut text = Vec::new();
    for read in O::map(input.reads(), workers, trim).flatten() {
        read.line(&mut text);
        output.write(&text);
    }
    output
}
