//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::files::{Input, compress};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let sink = Arc::new(Mutex::new(input.sink(output)));
    let writer = sink.clone();
    let last = move |stream: Vec<u8>| writer.lock().expect("no stage panicked").write(&stream);
    let pipeline = pipeline![
        parallel!(move |block: Vec<u8>| Some(compress(input, &block)), workers as i32),
        sequential_ordered!(last.clone())
    ];
    for block in input.blocks() {
        pipeline.post(block).expect("the pipeline runs");
    }
    pipeline.collect();
    sink.lock().expect("no stage panicked").end()
}
