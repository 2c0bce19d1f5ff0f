//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::matmul::{Input, multiply};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let last = move |product: Vec<u8>| {
        writer.lock().expect("no stage panicked").write(&product);
    };
    let pipeline = pipeline![
        parallel!(move |pair| Some(multiply(pair)), workers as i32),
        sequential_ordered!(last.clone())
    ];
    for pair in input.pairs() {
        pipeline.post(pair).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
