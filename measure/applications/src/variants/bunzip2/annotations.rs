//! The loop with annotations.

use measure_programs::Output;
use measure_programs::bunzip2::{Input, decompress};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for stream in input.streams() {
        #[stage(replicate)]
        let block = decompress(stream);
        output.write(&block);
    }
    output
}
