//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::radio::Input;

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut listener = input.listener();
    Stream::from_iter(input.frames())
        .workers(workers)
        .map(|frame| input.receive(frame))
        .for_each(|received| output.append(listener.hear(received)));
    output
}
