//! The loop with annotations.

use measure_programs::Output;
use measure_programs::sink::{Input, fill, read};

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
