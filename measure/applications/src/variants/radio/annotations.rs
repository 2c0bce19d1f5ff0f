//! The loop with annotations.

use measure_programs::Output;
use measure_programs::radio::Input;

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut listener = input.listener();
    #[to_stream(workers = workers)]
    for frame in input.frames() {
        #[stage(replicate)]
        let received = input.receive(frame);
        output.append(listener.hear(received));
    }
    output
}
