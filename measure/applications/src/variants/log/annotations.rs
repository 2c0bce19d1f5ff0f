//! The loop with annotations.

use measure_programs::Output;
use measure_programs::log::{Figures, Input, parse};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut figures = Figures::default();
    #[to_stream(workers = workers)]
    for line in input.lines() {
        #[stage(replicate)]
        let request = parse(line);
        figures.add(request);
    }
    figures.write(&mut output);
    output
}
