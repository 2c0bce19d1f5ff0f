//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::radio::{Frame, Input, Received};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let end = Arc::new(Mutex::new((input.listener(), output)));
    let hearer = end.clone();
    let last = move |received: Received| {
        let (listener, output) = &mut *hearer.lock().expect("no stage panicked");
        output.append(listener.hear(received));
    };
    let pipeline = pipeline![
        parallel!(move |frame: Frame| Some(input.receive(frame)), workers as i32),
        sequential_ordered!(last.clone())
    ];
    for frame in input.frames() {
        pipeline.post(frame).expect("the pipeline runs");
    }
    pipeline.collect();
    end.lock().expect("no stage panicked").1.clone()
}
