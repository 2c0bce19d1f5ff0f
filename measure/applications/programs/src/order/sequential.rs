//! The plain loop.

use super::{Input, Sum, compute};
use crate::Output;

/// Computes one task after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let mut sum = Sum::default();
    for task in input.tasks() {
        let result = compute(task);
        sum.add(result);
    }
    sum.write(&mut output);
    output
}
