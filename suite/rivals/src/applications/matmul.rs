//! The application `matmul`.

use anabranch_applications::Output;
use anabranch_applications::matmul::{Input, multiply};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for product in O::map(input.pairs(), workers, multiply) {
        output.write(&product);
    }
    output
}
