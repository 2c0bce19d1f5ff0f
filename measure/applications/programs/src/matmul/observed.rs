//! The plain loop, with each stage measured.

use super::{Input, multiply};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let mut pairs = input.pairs();
    while let Some(pair) = probe.next("read", &mut pairs, |pair| 2 * size_of_val(pair.left)) {
        let product = probe.stage("multiply", || multiply(pair), Vec::len);
        probe.stage("write", || output.write(&product), |()| product.len());
    }
    output
}
