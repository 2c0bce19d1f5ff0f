//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::lanes::{Edges, Frame, Input, Lane, Lines, edges, lines, smooth};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let end = Arc::new(Mutex::new((Lane::default(), output)));
    let follower = end.clone();
    let last = move |found: Lines| {
        let (lane, output) = &mut *follower.lock().expect("no stage panicked");
        output.write(&lane.follow(found));
    };
    let pipeline = pipeline![
        parallel!(move |frame: Frame| Some(smooth(frame)), replicas),
        parallel!(move |frame: Frame| Some(edges(frame)), replicas),
        parallel!(move |found: Edges| Some(lines(found)), replicas),
        sequential_ordered!(last.clone())
    ];
    for frame in input.frames() {
        pipeline.post(frame).expect("the pipeline runs");
    }
    pipeline.collect();
    end.lock().expect("no stage panicked").1.clone()
}
