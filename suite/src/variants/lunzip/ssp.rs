//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use anabranch_applications::Output;
use anabranch_applications::lunzip::{Input, decompress};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let pipeline = pipeline![
        parallel!(|member| Some(decompress(member)), workers as i32),
        sequential_ordered!(move |block: Vec<u8>| writer.lock().expect("no stage panicked").write(&block))
    ];
    for member in input.members() {
        pipeline.post(member).expect("the pipeline runs");
    }
    pipeline.collect();
    Arc::into_inner(output).expect("the stages are gone").into_inner().expect("no stage panicked")
}
