//! The plain loop.

use super::{Input, compress};
use crate::Output;

/// Compresses and writes one block after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for block in input.blocks() {
        let stream = compress(input, block);
        output.write(&stream);
    }
    output
}
