//! The plain loop.

use super::{Figures, Input, parse};
use crate::Output;

/// Parses one line after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let mut figures = Figures::default();
    for line in input.lines() {
        let request = parse(line);
        figures.add(request);
    }
    figures.write(&mut output);
    output
}
