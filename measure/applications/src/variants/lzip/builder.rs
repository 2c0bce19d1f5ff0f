//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::lzip::{Input, compress};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.blocks()).workers(workers).map(compress).for_each(|member| output.write(&member));
    output
}
