//! The plain loop, with each stage measured.

use super::{Input, fill, read};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut numbers = input.numbers();
    while let Some(number) = probe.next("number", &mut numbers, |_| size_of::<u64>()) {
        let buffer = probe.stage("fill", || fill(number), Vec::len);
        probe.stage("read (the sink)", || read(&mut output, &buffer), |()| buffer.len());
    }
    output
}
