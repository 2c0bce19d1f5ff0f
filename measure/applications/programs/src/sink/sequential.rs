//! The plain loop.

use super::{Input, fill, read};
use crate::Output;

/// Fills and reads one buffer after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for number in input.numbers() {
        let buffer = fill(number);
        read(&mut output, &buffer);
    }
    output
}
