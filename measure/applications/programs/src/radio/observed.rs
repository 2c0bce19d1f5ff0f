//! The plain loop, with each stage measured.

use super::Input;
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let (mut listener, mut frames) = (input.listener(), input.frames());
    while let Some(frame) = probe.next("find", &mut frames, |frame| frame.bytes()) {
        let received = probe.stage("receive", || input.receive(frame), |received| received.bytes());
        let hear = || {
            let heard = listener.hear(received);
            output.append(heard);
            heard.len()
        };
        probe.stage("hear and write", hear, |&bytes| bytes);
    }
    output
}
