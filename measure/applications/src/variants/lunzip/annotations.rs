//! The loop with annotations.

use measure_programs::Output;
use measure_programs::lunzip::{Input, decompress};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for member in input.members() {
        #[stage(replicate)]
        let block = decompress(member);
        output.write(&block);
    }
    output
}
