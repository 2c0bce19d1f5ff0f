//! The application `sink`.

use anabranch_applications::Output;
use anabranch_applications::sink::{Input, fill, read};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    for buffer in O::map(input.numbers(), workers, fill) {
        read(&mut output, &buffer);
    }
    output
}
