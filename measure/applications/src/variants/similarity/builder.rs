//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::similarity::{Input, candidates, describe, rank, segment};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.queries())
        .workers(workers)
        .map(segment)
        .map(describe)
        .map(|features| candidates(input, features))
        .map(|candidates| rank(input, candidates))
        .for_each(|matches| matches.iter().for_each(|found| output.write(&found.bytes())));
    output
}
