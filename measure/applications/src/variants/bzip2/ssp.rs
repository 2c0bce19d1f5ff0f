//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::bzip2::{Input, compress};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let last = move |stream: Vec<u8>| writer.lock().expect("no stage panicked").write(&stream);
    let pipeline = pipeline![
        parallel!(move |block| Some(compress(input, block)), replicas),
        sequential_ordered!(last.clone())
    ];
    for block in input.blocks() {
        pipeline.post(block).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
