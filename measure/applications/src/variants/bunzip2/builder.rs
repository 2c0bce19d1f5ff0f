//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::bunzip2::{Input, decompress};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.streams())
        .workers(workers)
        .map(decompress)
        .for_each(|block| output.write(&block));
    output
}
