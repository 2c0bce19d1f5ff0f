//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::micro::{Input, fractal_a, fractal_b};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(0..input.rows)
        .workers(workers)
        .map(|row| fractal_a(input, row))
        .map(|line| fractal_b(input, line))
        .for_each(|line| output.write(&line.points));
    output
}
