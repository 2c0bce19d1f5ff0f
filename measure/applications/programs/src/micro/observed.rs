//! The plain loop, with each stage measured.

use super::{Input, fractal_a, fractal_b};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut rows = 0..input.rows;
    while let Some(row) = probe.next("generate", &mut rows, |_| size_of::<usize>()) {
        let line = probe.stage("fractal A", || fractal_a(input, row), |line| line.points.len());
        let line = probe.stage("fractal B", || fractal_b(input, line), |line| line.points.len());
        probe.stage("write", || output.write(&line.points), |()| line.points.len());
    }
    output
}
