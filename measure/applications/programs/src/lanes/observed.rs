//! The plain loop, with each stage measured.

use super::{Input, Lane, edges, lines, smooth};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut lane = Lane::default();
    let mut frames = input.frames();
    while let Some(frame) = probe.next("generate", &mut frames, |frame| frame.bytes()) {
        let frame = probe.stage("smooth", || smooth(frame), |frame| frame.bytes());
        let edges = probe.stage("edges", || edges(frame), |edges| edges.bytes());
        let lines = probe.stage("lines", || lines(edges), size_of_val);
        probe.stage("follow and write", || output.write(&lane.follow(lines)), |()| 16);
    }
    output
}
