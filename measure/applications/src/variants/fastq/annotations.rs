//! The loop with annotations.

use measure_programs::Output;
use measure_programs::fastq::{Input, trim};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut text = Vec::new();
    #[to_stream(workers = workers)]
    for read in input.reads() {
        #[stage(replicate)]
        let Some(read) = trim(read) else { continue };
        read.line(&mut text);
        output.write(&text);
    }
    output
}
