//! The plain loop, with each stage measured.

use super::{Input, compress};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut blocks = input.blocks();
    while let Some(block) = probe.next("read", &mut blocks, |block| block.len()) {
        let member = probe.stage("compress", || compress(block), Vec::len);
        probe.stage("write", || output.write(&member), |()| member.len());
    }
    output
}
