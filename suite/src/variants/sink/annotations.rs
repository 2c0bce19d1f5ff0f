//! The loop with annotations.

use anabranch_applications::Output;
use anabranch_applications::sink::{Input, fill, read};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers, window = 16 * workers)]
    for number in input.numbers() {
        #[stage(replicate)]
        let buffer = fill(number);
        read(&mut output, &buffer);
    }
    output
}
