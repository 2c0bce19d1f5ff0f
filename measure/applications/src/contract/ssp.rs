//! The language of Rust-SSP. It has no errors, so the last stage keeps the first one, and the loop that posts looks for it.

use std::sync::{Arc, Mutex};

use anabranch::ssp::*;
use measure_programs::contract::{Failure, System};

/// See above.
pub struct Ssp;

impl System for Ssp {
    const NAME: &'static str = "ssp";

    fn run(
        source: impl Iterator<Item = u64> + Send + 'static,
        workers: usize,
        stage: impl Fn(u64) -> Result<u64, Failure> + Send + Sync + Copy + 'static,
        sink: impl FnMut(u64) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let end = Arc::new(Mutex::new((Ok(()), sink)));
        let keeper = end.clone();
        let last = move |result: Result<u64, Failure>| {
            let (ended, sink) = &mut *keeper.lock().expect("no stage panicked");
            if ended.is_ok() {
                *ended = result.and_then(sink);
            }
        };
        let pipeline = pipeline![
            parallel!(move |item: u64| Some(stage(item)), workers as i32),
            sequential_ordered!(last.clone())
        ];
        for item in source {
            if end.lock().is_ok_and(|end| end.0.is_err()) || pipeline.post(item).is_err() {
                break;
            }
        }
        pipeline.collect();
        end.lock().map_or(Ok(()), |end| end.0)
    }
}
