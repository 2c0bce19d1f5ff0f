//! The loop as a stream.

use anabranch::Stream;
use measure_programs::Output;
use measure_programs::dedup::{Index, Input, hash, pack};

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut index = Index::default();
    Stream::from_iter(input.chunks())
        .workers(workers)
        .map(hash)
        .serial_map(|hashed| index.look_up(hashed))
        .map(pack)
        .for_each(|entry| output.write(&entry));
    output
}
