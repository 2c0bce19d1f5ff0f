//! The plain loop, with each stage measured.

use super::{Input, trim};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut text = Vec::new();
    let mut reads = input.reads();
    while let Some(read) = probe.next("cut", &mut reads, size_of_val) {
        let read = probe.stage("trim", || trim(read), size_of_val);
        let Some(read) = read else { continue };
        probe.stage("format", || read.line(&mut text), |()| 0);
        probe.stage("write", || output.write(&text), |()| text.len());
    }
    output
}
