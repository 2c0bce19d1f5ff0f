//! The loop as a stream.

use anabranch::Source;
use measure_programs::Output;
use measure_programs::farm::{Input, compute};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Source::new(input.tasks())
        .in_blocks()
        .into_stream()
        .workers(workers)
        .map(compute)
        .for_each(|result| output.write(&result.to_le_bytes()));
    output
}
