//! The plain loop.

use super::Input;
use crate::Output;

/// Receives one frame after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let mut listener = input.listener();
    for frame in input.frames() {
        let received = input.receive(frame);
        output.append(listener.hear(received));
    }
    output
}
