//! The plain loop.

use super::{Input, multiply};
use crate::Output;

/// Multiplies and writes one pair after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for pair in input.pairs() {
        let product = multiply(pair);
        output.write(&product);
    }
    output
}
