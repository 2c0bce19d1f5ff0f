//! The plain loop, with each stage measured.

use super::{Input, compute};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut tasks = input.tasks();
    while let Some(task) = probe.next("generate", &mut tasks, size_of_val) {
        let result = probe.stage("compute", || compute(task), size_of_val);
        probe.stage("write", || output.write(&result.to_le_bytes()), |()| size_of_val(&result));
    }
    output
}
