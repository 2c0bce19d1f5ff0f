//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::micro::{Input, Line, fractal_a, fractal_b};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let last = move |line: Line| writer.lock().expect("no stage panicked").write(&line.points);
    let pipeline = pipeline![
        parallel!(move |row: usize| Some(fractal_a(input, row)), replicas),
        parallel!(move |line: Line| Some(fractal_b(input, line)), replicas),
        sequential_ordered!(last.clone())
    ];
    for row in 0..input.rows {
        pipeline.post(row).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
