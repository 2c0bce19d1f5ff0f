//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::fastq::{Input, Read, trim};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let mut text = Vec::new();
    let last = move |read: Read<'static>| {
        read.line(&mut text);
        writer.lock().expect("no stage panicked").write(&text);
    };
    let pipeline = pipeline![parallel!(trim, workers as i32), sequential_ordered!(last.clone())];
    for read in input.reads() {
        pipeline.post(read).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
