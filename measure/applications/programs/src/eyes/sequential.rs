//! The plain loop.

use super::{Input, draw, eyes, faces, grey};
use crate::Output;

/// Looks at one frame after the other, and writes it with what was found.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for frame in input.frames() {
        let grey = grey(frame);
        let faces = faces(input, grey);
        let eyes = eyes(input, faces);
        let frame = draw(eyes);
        output.write(frame.bytes());
    }
    output
}
