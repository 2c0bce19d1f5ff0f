//! The cost of order: with it, and without.

use measure_programs::Output;
use measure_programs::order::{Input, Sum, compute};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut sum = Sum::default();
    if input.is_ordered {
        O::map(input.tasks(), workers, compute).for_each(|result| sum.add(result));
    } else {
        O::map_in_any_order(input.tasks(), workers, compute).for_each(|result| sum.add(result));
    }
    sum.write(&mut output);
    output
}
