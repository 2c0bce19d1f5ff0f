//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::lunzip::{Input, decompress};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let last = move |block: Vec<u8>| writer.lock().expect("no stage panicked").write(&block);
    let pipeline = pipeline![
        parallel!(move |member| Some(decompress(member)), workers as i32),
        sequential_ordered!(last.clone())
    ];
    for member in input.members() {
        pipeline.post(member).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
