//! The application `lanes`.

use measure_programs::Output;
use measure_programs::lanes::{Input, Lane, edges, lines, smooth};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut lane = Lane::default();
    for found in O::map(input.frames(), workers, |frame| lines(edges(smooth(frame)))) {
        output.write(&lane.follow(found));
    }
    output
}
