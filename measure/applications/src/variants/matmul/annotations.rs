//! The loop with annotations.

use measure_programs::Output;
use measure_programs::matmul::{Input, multiply};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for pair in input.pairs() {
        #[stage(replicate)]
        let product = multiply(pair);
        output.write(&product);
    }
    output
}
