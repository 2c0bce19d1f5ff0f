//! The plain loop, with each stage measured.

use super::{Input, candidates, describe, rank, segment};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut queries = input.queries();
    while let Some(image) = probe.next("read", &mut queries, |image| size_of_val(&image.0[..])) {
        let segments = probe.stage("segment", || segment(image), size_of_val);
        let features = probe.stage("extract", || describe(segments), size_of_val);
        let found = probe.stage("index", || candidates(input, features), |found| found.bytes());
        let ranked = probe.stage("rank", || rank(input, found), |ranked| size_of_val(&ranked[..]));
        let write = || ranked.iter().for_each(|found| output.write(&found.bytes()));
        probe.stage("write", write, |()| 12 * ranked.len());
    }
    output
}
