//! The application `eyes`.

use measure_programs::Output;
use measure_programs::eyes::{Input, draw, eyes, faces, grey};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let drawn = |frame| draw(eyes(input, faces(input, grey(frame))));
    for frame in O::map(input.frames(), workers, drawn) {
        output.write(frame.bytes());
    }
    output
}
