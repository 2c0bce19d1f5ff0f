//! The plain loop.

use super::{Input, fractal_a, fractal_b};
use crate::Output;

/// Generates, computes and writes one line after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for row in 0..input.rows {
        let line = fractal_a(input, row);
        let line = fractal_b(input, line);
        output.write(&line.points);
    }
    output
}
