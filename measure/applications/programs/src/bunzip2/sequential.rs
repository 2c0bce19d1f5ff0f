//! The plain loop.

use super::{Input, decompress};
use crate::Output;

/// Decompresses and writes one stream after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for stream in input.streams() {
        let block = decompress(stream);
        output.write(&block);
    }
    output
}
