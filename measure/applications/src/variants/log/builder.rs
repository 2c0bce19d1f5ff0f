//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::log::{Figures, Input, parse};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut figures = Figures::default();
    Stream::from_iter(input.lines())
        .in_blocks()
        .workers(workers)
        .map(parse)
        .for_each(|request| figures.add(request));
    figures.write(&mut output);
    output
}
