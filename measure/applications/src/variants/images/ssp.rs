//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::images::{Image, Input, emboss, gamma, grayscale, saturation, sharpen};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let last = move |image: Image| writer.lock().expect("no stage panicked").write(image.bytes());
    let pipeline = pipeline![
        parallel!(move |image| Some(saturation(image)), replicas),
        parallel!(move |image| Some(emboss(image)), replicas),
        parallel!(move |image| Some(gamma(image)), replicas),
        parallel!(move |image| Some(sharpen(image)), replicas),
        parallel!(move |image| Some(grayscale(image)), replicas),
        sequential_ordered!(last.clone())
    ];
    for image in input.images() {
        pipeline.post(image).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
