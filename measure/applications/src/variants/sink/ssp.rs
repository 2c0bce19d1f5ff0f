//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::sink::{Input, fill, read};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let last = move |buffer: Vec<u8>| {
        read(&mut writer.lock().expect("no stage panicked"), &buffer);
    };
    let pipeline = pipeline![
        parallel!(move |number| Some(fill(number)), workers as i32),
        sequential_ordered!(last.clone())
    ];
    for number in input.numbers() {
        pipeline.post(number).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
