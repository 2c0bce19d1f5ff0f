//! The plain loop.

use super::{Index, Input, hash, pack};
use crate::Output;

/// Archives one chunk after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let mut index = Index::default();
    for chunk in input.chunks() {
        let hashed = hash(chunk);
        let seen = index.look_up(hashed);
        let entry = pack(seen);
        output.write(&entry);
    }
    output
}
