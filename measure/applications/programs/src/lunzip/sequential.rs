//! The plain loop.

use super::{Input, decompress};
use crate::Output;

/// Decompresses and writes one member after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for member in input.members() {
        let block = decompress(member);
        output.write(&block);
    }
    output
}
