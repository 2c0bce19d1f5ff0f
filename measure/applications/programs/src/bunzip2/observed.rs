//! The plain loop, with each stage measured.

use super::{Input, decompress};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut streams = input.streams();
    while let Some(stream) = probe.next("read", &mut streams, |stream| stream.len()) {
        let block = probe.stage("decompress", || decompress(stream), Vec::len);
        probe.stage("write", || output.write(&block), |()| block.len());
    }
    output
}
