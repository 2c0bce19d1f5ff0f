//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::sink::{Input, fill, read};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.numbers())
        .window(16 * workers)
        .workers(workers)
        .map(fill)
        .for_each(|buffer| read(&mut output, &buffer));
    output
}
