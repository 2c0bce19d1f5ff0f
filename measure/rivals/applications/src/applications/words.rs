//! The application `words`.

use measure_programs::Output;
use measure_programs::words::{Input, Total, count};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut total = Total::default();
    for counts in O::map(input.pieces(), workers, count) {
        total.add(counts);
    }
    total.write(&mut output);
    output
}
