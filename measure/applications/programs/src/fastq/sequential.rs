//! The plain loop.

use super::{Input, trim};
use crate::Output;

/// Trims and writes one read after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let mut text = Vec::new();
    for read in input.reads() {
        let Some(read) = trim(read) else { continue };
        read.line(&mut text);
        output.write(&text);
    }
    output
}
