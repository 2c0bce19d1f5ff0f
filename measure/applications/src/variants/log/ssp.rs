//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::log::{Figures, Input, Request, parse};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let figures = Arc::new(Mutex::new(Figures::default()));
    let keeper = figures.clone();
    let last =
        move |request: Option<Request<'static>>| keeper.lock().expect("no stage panicked").add(request);
    let pipeline = pipeline![
        parallel!(move |line| Some(parse(line)), workers as i32),
        sequential_ordered!(last.clone())
    ];
    for line in input.lines() {
        pipeline.post(line).expect("the pipeline runs");
    }
    pipeline.collect();
    figures.lock().expect("no stage panicked").write(&mut output);
    output
}
