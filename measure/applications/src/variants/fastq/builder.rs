//! The loop as a stream.

use anabranch::Source;
use measure_programs::Output;
use measure_programs::fastq::{Input, trim};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut text = Vec::new();
    Source::new(input.reads()).in_blocks().into_stream().workers(workers).filter_map(trim).for_each(|read| {
        read.line(&mut text);
        output.write(&text);
    });
    output
}
