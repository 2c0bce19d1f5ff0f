//! The loop as a stream.

use anabranch::Source;
use measure_programs::Output;
use measure_programs::order::{Input, Sum, compute};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut sum = Sum::default();
    let tasks = Source::new(input.tasks()).in_blocks().into_stream().workers(workers);
    if input.is_ordered {
        tasks.map(compute).for_each(|result| sum.add(result));
    } else {
        tasks.unordered().map(compute).for_each(|result| sum.add(result));
    }
    sum.write(&mut output);
    output
}
