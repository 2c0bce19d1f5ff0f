//! The plain loop, with each stage measured.

use super::{Input, compress};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, output: Output, probe: &mut Probe) -> Output {
    let mut sink = input.sink(output);
    let mut blocks = input.blocks();
    while let Some(block) = probe.next("read", &mut blocks, Vec::len) {
        let stream = probe.stage("compress", || compress(input, &block), Vec::len);
        probe.stage("write", || sink.write(&stream), |()| stream.len());
    }
    sink.end()
}
