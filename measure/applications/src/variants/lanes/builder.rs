//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::lanes::{Input, Lane, edges, lines, smooth};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut lane = Lane::default();
    Stream::from_iter(input.frames())
        .workers(workers)
        .map(smooth)
        .map(edges)
        .map(lines)
        .for_each(|lines| output.write(&lane.follow(lines)));
    output
}
