//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::words::{Input, Total, count};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut total = Total::default();
    Stream::from_iter(input.pieces())
        .workers(workers)
        .window(32 * workers)
        .map(count)
        .for_each(|counts| total.add(counts));
    total.write(&mut output);
    output
}
