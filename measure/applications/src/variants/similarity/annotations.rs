//! The loop with annotations.

use measure_programs::Output;
use measure_programs::similarity::{Input, candidates, describe, rank, segment};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for image in input.queries() {
        #[stage(replicate)]
        let segments = segment(image);
        #[stage(replicate)]
        let features = describe(segments);
        #[stage(replicate)]
        let nearest = candidates(input, features);
        #[stage(replicate)]
        let matches = rank(input, nearest);
        for found in matches {
            output.write(&found.bytes());
        }
    }
    output
}
