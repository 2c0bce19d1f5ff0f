//! The loop with annotations.

use measure_programs::Output;
use measure_programs::order::{Input, Sum, compute};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let sum = if input.is_ordered { ordered(input, workers) } else { unordered(input, workers) };
    sum.write(&mut output);
    output
}

#[anabranch::stream]
fn ordered(input: &'static Input, workers: usize) -> Sum {
    let mut sum = Sum::default();
    #[to_stream(workers = workers)]
    for task in input.tasks() {
        #[stage(replicate)]
        let result = compute(task);
        sum.add(result);
    }
    sum
}

#[anabranch::stream]
fn unordered(input: &'static Input, workers: usize) -> Sum {
    let mut sum = Sum::default();
    #[to_stream(workers = workers, unordered)]
    for task in input.tasks() {
        #[stage(replicate)]
        let result = compute(task);
        sum.add(result);
    }
    sum
}
