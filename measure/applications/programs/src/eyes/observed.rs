//! The plain loop, with each stage measured.

use super::{Input, draw, eyes, faces, grey};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut frames = input.frames();
    while let Some(frame) = probe.next("read", &mut frames, |frame| frame.bytes().len()) {
        let grey = probe.stage("grey", || grey(frame), |grey| grey.bytes());
        let faces = probe.stage("faces", || faces(input, grey), |faces| faces.bytes());
        let eyes = probe.stage("eyes", || eyes(input, faces), |eyes| eyes.bytes());
        let frame = probe.stage("draw", || draw(eyes), |frame| frame.bytes().len());
        probe.stage("write", || output.write(frame.bytes()), |()| frame.bytes().len());
    }
    output
}
