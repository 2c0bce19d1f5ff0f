//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::eyes::{Input, draw, eyes, faces, grey};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.frames())
        .workers(workers)
        .map(grey)
        .map(|grey| faces(input, grey))
        .map(|faces| eyes(input, faces))
        .map(draw)
        .for_each(|frame| output.write(frame.bytes()));
    output
}
