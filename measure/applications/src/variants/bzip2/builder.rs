//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::bzip2::{Input, compress};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.blocks())
        .workers(workers)
        .map(|block| compress(input, block))
        .for_each(|stream| output.write(&stream));
    output
}
