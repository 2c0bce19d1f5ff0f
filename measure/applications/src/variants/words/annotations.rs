//! The loop with annotations.

use measure_programs::Output;
use measure_programs::words::{Input, Total, count};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut total = Total::default();
    #[to_stream(workers = workers, window = 32 * workers)]
    for piece in input.pieces() {
        #[stage(replicate)]
        let counts = count(piece);
        total.add(counts);
    }
    total.write(&mut output);
    output
}
