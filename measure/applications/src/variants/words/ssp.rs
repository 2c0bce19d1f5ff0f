//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::words::{Counts, Input, Total, count};

/// Runs with this many replicas of the parallel stage.
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let total = Arc::new(Mutex::new(Total::default()));
    let keeper = total.clone();
    let last = move |counts: Counts<'static>| keeper.lock().expect("no stage panicked").add(counts);
    let pipeline = pipeline![
        parallel!(move |piece| Some(count(piece)), workers as i32),
        sequential_ordered!(last.clone())
    ];
    for piece in input.pieces() {
        pipeline.post(piece).expect("the pipeline runs");
    }
    pipeline.collect();
    total.lock().expect("no stage panicked").write(&mut output);
    output
}
