//! The application `files`.

use measure_programs::Output;
use measure_programs::files::{Input, compress};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, output: Output) -> Output {
    let mut sink = input.sink(output);
    for stream in O::map(input.blocks(), workers, |block| compress(input, &block)) {
        sink.write(&stream);
    }
    sink.end()
}
