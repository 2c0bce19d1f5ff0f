//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::images::{Input, emboss, gamma, grayscale, saturation, sharpen};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    Stream::from_iter(input.images())
        .workers(workers)
        .map(saturation)
        .map(emboss)
        .map(gamma)
        .map(sharpen)
        .map(grayscale)
        .for_each(|image| output.write(image.bytes()));
    output
}
