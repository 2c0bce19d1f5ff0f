//! The loop with annotations.

use measure_programs::Output;
use measure_programs::dedup::{Index, Input, hash, pack};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut index = Index::default();
    #[to_stream(workers = workers)]
    for chunk in input.chunks() {
        #[stage(replicate)]
        let hashed = hash(chunk);
        let seen = index.look_up(hashed);
        #[stage(replicate)]
        let entry = pack(seen);
        output.write(&entry);
    }
    output
}
