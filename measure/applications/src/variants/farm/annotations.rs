//! The loop with annotations.

use measure_programs::Output;
use measure_programs::farm::{Input, compute};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for task in input.tasks() {
        #[stage(replicate)]
        let result = compute(task);
        output.write(&result.to_le_bytes());
    }
    output
}
