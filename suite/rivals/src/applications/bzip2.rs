//! The application `bzip2`.

use anabranch_applications::Output;
use anabranch_applications::bzip2::{Input, compress};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for stream in O::map(input.blocks(), workers, |block| compress(input, block)) {
        output.write(&stream);
    }
    output
}
