//! The loop with annotations.

use measure_programs::Output;
use measure_programs::files::{Input, compress};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let mut sink = input.sink(output);
    #[to_stream(workers = workers)]
    for block in input.blocks() {
        #[stage(replicate)]
        let stream = compress(input, &block);
        sink.write(&stream);
    }
    sink.end()
}
