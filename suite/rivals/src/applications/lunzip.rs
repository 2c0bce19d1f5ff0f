//! The application `lunzip`.

use anabranch_applications::Output;
use anabranch_applications::lunzip::{Input, decompress};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for block in O::map(input.members(), workers, decompress) {
        output.write(&block);
    }
    output
}
