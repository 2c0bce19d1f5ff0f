//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::order::{Input, Sum, compute};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut sum = Sum::default();
    let tasks = Stream::from_iter(input.tasks()).in_blocks().workers(workers);
    if input.is_ordered {
        tasks.map(compute).for_each(|result| sum.add(result));
    } else {
        tasks.unordered().map(compute).for_each(|result| sum.add(result));
    }
    sum.write(&mut output);
    output
}
