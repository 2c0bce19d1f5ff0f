//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use anabranch_applications::Output;
use anabranch_applications::micro::{Input, Line, fractal_a, fractal_b};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let pipeline = pipeline![
        parallel!(|row: usize| Some(fractal_a(input, row)), replicas),
        parallel!(|line: Line| Some(fractal_b(input, line)), replicas),
        sequential_ordered!(move |line: Line| writer.lock().expect("no stage panicked").write(&line.points))
    ];
    for row in 0..input.rows {
        pipeline.post(row).expect("the pipeline runs");
    }
    pipeline.collect();
    Arc::into_inner(output).expect("the stages are gone").into_inner().expect("no stage panicked")
}
