//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::files::{Input, compress};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let mut sink = input.sink(output);
    Stream::from_iter(input.blocks())
        .workers(workers)
        .map(|block| compress(input, &block))
        .for_each(|stream| sink.write(&stream));
    sink.end()
}
