//! The loop with annotations.

use measure_programs::Output;
use measure_programs::micro::{Input, fractal_a, fractal_b};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for row in 0..input.rows {
        #[stage(replicate)]
        let line = fractal_a(input, row);
        #[stage(replicate)]
        let line = fractal_b(input, line);
        output.write(&line.points);
    }
    output
}
