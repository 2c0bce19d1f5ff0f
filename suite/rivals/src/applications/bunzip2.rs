//! The application `bunzip2`.

use anabranch_applications::Output;
use anabranch_applications::bunzip2::{Input, decompress};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for block in O::map(input.streams(), workers, decompress) {
        output.write(&block);
    }
    output
}
