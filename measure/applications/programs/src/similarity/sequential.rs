//! The plain loop.

use super::{Input, candidates, describe, rank, segment};
use crate::Output;

/// Looks for one image after the other, and writes what it has found.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for image in input.queries() {
        let segments = segment(image);
        let features = describe(segments);
        let candidates = candidates(input, features);
        for found in rank(input, candidates) {
            output.write(&found.bytes());
        }
    }
    output
}
