//! The application `micro`.

use measure_programs::Output;
use measure_programs::micro::{Input, fractal_a, fractal_b};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let lines = O::map(0..input.rows, workers, |row| fractal_b(input, fractal_a(input, row)));
    for line in lines {
        output.write(&line.points);
    }
    output
}
