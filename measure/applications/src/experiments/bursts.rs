//! A window and a burst.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::experiments::bursts::{Input, compute};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut stream = Stream::from_iter(input.numbers()).window(input.window).workers(workers);
    if let Some(burst) = input.burst {
        stream = stream.burst(burst);
    }
    stream.map(compute).for_each(|result| output.write(&result.to_le_bytes()));
    output
}
