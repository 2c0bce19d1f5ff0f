//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use anabranch_applications::Output;
use anabranch_applications::matmul::{Input, multiply};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let pipeline = pipeline![
        parallel!(|pair| Some(multiply(pair)), workers as i32),
        sequential_ordered!(move |product: Vec<u8>| {
            writer.lock().expect("no stage panicked").write(&product);
        })
    ];
    for pair in input.pairs() {
        pipeline.post(pair).expect("the pipeline runs");
    }
    pipeline.collect();
    Arc::into_inner(output).expect("the stages are gone").into_inner().expect("no stage panicked")
}
