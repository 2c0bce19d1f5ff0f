//! The plain loop, with each stage measured.

use super::{Input, Total, count};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut total = Total::default();
    let mut pieces = input.pieces();
    while let Some(piece) = probe.next("cut", &mut pieces, |piece| piece.len()) {
        let counts = probe.stage("count", || count(piece), size_of_val);
        probe.stage("add up", || total.add(counts), |()| 0);
    }
    total.write(&mut output);
    output
}
