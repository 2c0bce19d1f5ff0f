//! The plain loop, with each stage measured.

use super::{Figures, Input, parse};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut figures = Figures::default();
    let mut lines = input.lines();
    while let Some(line) = probe.next("cut", &mut lines, |line| line.len()) {
        let request = probe.stage("parse", || parse(line), size_of_val);
        probe.stage("add up", || figures.add(request), |()| 0);
    }
    figures.write(&mut output);
    output
}
