//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::dedup::{Index, Input, hash, pack};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let mut index = Index::default();
    let last = move |entry: Vec<u8>| writer.lock().expect("no stage panicked").write(&entry);
    let pipeline = pipeline![
        parallel!(move |chunk| Some(hash(chunk)), replicas),
        sequential_ordered!(move |hashed| Some(index.look_up(hashed))),
        parallel!(move |seen| Some(pack(seen)), replicas),
        sequential_ordered!(last.clone())
    ];
    for chunk in input.chunks() {
        pipeline.post(chunk).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
