//! The application `log`.

use measure_programs::Output;
use measure_programs::log::{Figures, Input, parse};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut figures = Figures::default();
    for request in O::map(input.lines(), workers, parse) {
        figures.add(request);
    }
    figures.write(&mut output);
    output
}
