//! The loop with annotations.

use measure_programs::Output;
use measure_programs::lanes::{Input, Lane, edges, lines, smooth};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut lane = Lane::default();
    #[to_stream(workers = workers)]
    for frame in input.frames() {
        #[stage(replicate)]
        let frame = smooth(frame);
        #[stage(replicate)]
        let found = edges(frame);
        #[stage(replicate)]
        let found = lines(found);
        output.write(&lane.follow(found));
    }
    output
}
