//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::order::{Input, Sum, compute};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let sum = Arc::new(Mutex::new(Sum::default()));
    let keeper = sum.clone();
    let add = move |result: u64| keeper.lock().expect("no stage panicked").add(result);
    let replicas = workers as i32;
    if input.is_ordered {
        let pipeline =
            pipeline![parallel!(|task| Some(compute(task)), replicas), sequential_ordered!(add.clone())];
        for task in input.tasks() {
            pipeline.post(task).expect("the pipeline runs");
        }
        pipeline.collect();
    } else {
        let pipeline = pipeline![parallel!(|task| Some(compute(task)), replicas), sequential!(add.clone())];
        for task in input.tasks() {
            pipeline.post(task).expect("the pipeline runs");
        }
        pipeline.collect();
    }
    sum.lock().expect("no stage panicked").write(&mut output);
    output
}
