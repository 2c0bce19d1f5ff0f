//! The loop in the language of Rust-SSP.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use anabranch_applications::Output;
use anabranch_applications::similarity::{
    Candidates, Features, Input, Match, Segments, candidates, describe, rank, segment,
};

/// Runs with this many replicas of each parallel stage.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let replicas = workers as i32;
    let output = Arc::new(Mutex::new(output));
    let writer = output.clone();
    let pipeline = pipeline![
        parallel!(|image| Some(segment(image)), replicas),
        parallel!(|segments: Segments<'static>| Some(describe(segments)), replicas),
        parallel!(|features: Features| Some(candidates(input, features)), replicas),
        parallel!(|candidates: Candidates| Some(rank(input, candidates)), replicas),
        sequential_ordered!(move |matches: Vec<Match>| {
            let mut writer = writer.lock().expect("no stage panicked");
            matches.iter().for_each(|found| writer.write(&found.bytes()));
        })
    ];
    for image in input.queries() {
        pipeline.post(image).expect("the pipeline runs");
    }
    pipeline.collect();
    Arc::into_inner(output).expect("the stages are gone").into_inner().expect("no stage panicked")
}
