//! The application `radio`.

use measure_programs::Output;
use measure_programs::radio::Input;

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut listener = input.listener();
    for received in O::map(input.frames(), workers, |frame| input.receive(frame)) {
        output.append(listener.hear(received));
    }
    output
}
