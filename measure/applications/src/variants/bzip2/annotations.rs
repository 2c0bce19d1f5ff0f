//! The loop with annotations.

use measure_programs::Output;
use measure_programs::bzip2::{Input, compress};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for block in input.blocks() {
        #[stage(replicate)]
        let stream = compress(input, block);
        output.write(&stream);
    }
    output
}
