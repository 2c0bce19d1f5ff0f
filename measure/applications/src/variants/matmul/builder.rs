//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::matmul::{Input, multiply};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.pairs())
        .workers(workers)
        .map(multiply)
        .for_each(|product| output.write(&product));
    output
}
