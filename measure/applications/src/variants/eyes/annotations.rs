//! The loop with annotations.

use measure_programs::Output;
use measure_programs::eyes::{Input, draw, eyes, faces, grey};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for frame in input.frames() {
        #[stage(replicate)]
        let shades = grey(frame);
        #[stage(replicate)]
        let people = faces(input, shades);
        #[stage(replicate)]
        let seen = eyes(input, people);
        #[stage(replicate)]
        let drawn = draw(seen);
        output.write(drawn.bytes());
    }
    output
}
