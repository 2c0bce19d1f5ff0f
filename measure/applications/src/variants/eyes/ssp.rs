//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::eyes::{Eyes, Faces, Frame, Grey, Input, draw, eyes, faces, grey};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let last = move |frame: Frame| writer.lock().expect("no stage panicked").write(frame.bytes());
    let pipeline = pipeline![
        parallel!(move |frame: Frame| Some(grey(frame)), replicas),
        parallel!(move |shades: Grey| Some(faces(input, shades)), replicas),
        parallel!(move |people: Faces| Some(eyes(input, people)), replicas),
        parallel!(move |seen: Eyes| Some(draw(seen)), replicas),
        sequential_ordered!(last.clone())
    ];
    for frame in input.frames() {
        pipeline.post(frame).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
