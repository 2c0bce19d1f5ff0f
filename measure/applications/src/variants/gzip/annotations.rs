//! The loop with annotations.

use measure_programs::Output;
use measure_programs::gzip::{Input, compress};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for block in input.blocks() {
        #[stage(replicate)]
        let member = compress(block);
        output.write(&member);
    }
    output
}
