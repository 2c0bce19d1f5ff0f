//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::farm::{Input, compute};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let last = move |result: u64| {
        writer.lock().expect("no stage panicked").write(&result.to_le_bytes());
    };
    let pipeline = pipeline![
        parallel!(move |task| Some(compute(task)), workers as i32),
        sequential_ordered!(last.clone())
    ];
    for task in input.tasks() {
        pipeline.post(task).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
