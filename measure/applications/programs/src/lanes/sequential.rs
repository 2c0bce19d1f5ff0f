//! The plain loop.

use super::{Input, Lane, edges, lines, smooth};
use crate::Output;

/// Looks at one frame after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    let mut lane = Lane::default();
    for frame in input.frames() {
        let frame = smooth(frame);
        let edges = edges(frame);
        let lines = lines(edges);
        output.write(&lane.follow(lines));
    }
    output
}
