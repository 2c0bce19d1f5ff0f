//! The loop as a stream.

use anabranch::Source;
use measure_programs::Output;
use measure_programs::log::{Figures, Input, parse};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut figures = Figures::default();
    Source::new(input.lines())
        .in_blocks()
        .into_stream()
        .workers(workers)
        .map(parse)
        .for_each(|request| figures.add(request));
    figures.write(&mut output);
    output
}
