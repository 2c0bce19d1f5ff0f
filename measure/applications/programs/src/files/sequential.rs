//! The plain loop.

use super::{Input, compress};
use crate::Output;

/// Reads, compresses and writes one block after the other.
pub fn run(input: &'static Input, _workers: usize, output: Output) -> Output {
    let mut sink = input.sink(output);
    for block in input.blocks() {
        let stream = compress(input, &block);
        sink.write(&stream);
    }
    sink.end()
}
