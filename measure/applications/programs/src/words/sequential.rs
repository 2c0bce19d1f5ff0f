//! The plain loop.

use super::{Input, Total, count};
use crate::Output;

/// Counts one piece after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let mut total = Total::default();
    for piece in input.pieces() {
        let counts = count(piece);
        total.add(counts);
    }
    total.write(&mut output);
    output
}
