//! The plain loop, with each stage measured.

use super::{Index, Input, hash, pack};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut index = Index::default();
    let mut chunks = input.chunks();
    while let Some(chunk) = probe.next("cut", &mut chunks, |chunk| chunk.len()) {
        let hashed = probe.stage("hash", || hash(chunk), |_| chunk.len() + 32);
        let seen = probe.stage("look up", || index.look_up(hashed), |_| chunk.len() + 32);
        let entry = probe.stage("compress", || pack(seen), Vec::len);
        probe.stage("write", || output.write(&entry), |()| entry.len());
    }
    output
}
