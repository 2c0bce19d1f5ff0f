//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use anabranch_applications::Output;
use anabranch_applications::images::{Image, Input, emboss, gamma, grayscale, saturation, sharpen};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let pipeline = pipeline![
        parallel!(|image| Some(saturation(image)), replicas),
        parallel!(|image| Some(emboss(image)), replicas),
        parallel!(|image| Some(gamma(image)), replicas),
        parallel!(|image| Some(sharpen(image)), replicas),
        parallel!(|image| Some(grayscale(image)), replicas),
        sequential_ordered!(move |image: Image| writer
            .lock()
            .expect("no stage panicked")
            .write(image.bytes()))
    ];
    for image in input.images() {
        pipeline.post(image).expect("the pipeline runs");
    }
    pipeline.collect();
    Arc::into_inner(output).expect("the stages are gone").into_inner().expect("no stage panicked")
}
