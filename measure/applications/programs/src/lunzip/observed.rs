//! The plain loop, with each stage measured.

use super::{Input, decompress};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut members = input.members();
    while let Some(member) = probe.next("read", &mut members, |member| member.len()) {
        let block = probe.stage("decompress", || decompress(member), Vec::len);
        probe.stage("write", || output.write(&block), |()| block.len());
    }
    output
}
