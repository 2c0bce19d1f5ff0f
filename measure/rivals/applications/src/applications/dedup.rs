//! The application `dedup`.

use measure_programs::Output;
use measure_programs::dedup::{Index, Input, hash, pack};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let mut index = Index::default();
    let seen = O::map(input.chunks(), workers, hash).map(move |hashed| index.look_up(hashed));
    for entry in O::map(seen, workers, pack) {
        output.write(&entry);
    }
    output
}
