//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::Output;
use measure_programs::similarity::{
    Candidates, Features, Input, Match, Segments, candidates, describe, rank, segment,
};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let last = move |matches: Vec<Match>| {
        let mut writer = writer.lock().expect("no stage panicked");
        matches.iter().for_each(|found| writer.write(&found.bytes()));
    };
    let pipeline = pipeline![
        parallel!(move |image| Some(segment(image)), replicas),
        parallel!(move |segments: Segments<'static>| Some(describe(segments)), replicas),
        parallel!(move |features: Features| Some(candidates(input, features)), replicas),
        parallel!(move |candidates: Candidates| Some(rank(input, candidates)), replicas),
        sequential_ordered!(last.clone())
    ];
    for image in input.queries() {
        pipeline.post(image).expect("the pipeline runs");
    }
    pipeline.collect();
    output.lock().expect("no stage panicked").clone()
}
