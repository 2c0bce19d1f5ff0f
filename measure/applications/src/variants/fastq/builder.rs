//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::fastq::{Input, trim};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut text = Vec::new();
    Stream::from_iter(input.reads()).in_blocks().workers(workers).filter_map(trim).for_each(|read| {
        read.line(&mut text);
        output.write(&text);
    });
    output
}
