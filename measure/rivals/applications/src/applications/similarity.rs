//! The application `similarity`.

use measure_programs::Output;
use measure_programs::similarity::{Input, candidates, describe, rank, segment};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let found =
        O::map(input.queries(), workers, |image| rank(input, candidates(input, describe(segment(image)))));
    for matches in found {
        matches.iter().for_each(|found| output.write(&found.bytes()));
    }
    output
}
