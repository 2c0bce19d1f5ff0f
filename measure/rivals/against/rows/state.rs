//! A parallel stage with a state for each worker.

use anabranch::Stream;
use measure_harness::work::{Digest, Work};

pub fn run(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .map_init(Vec::new, move |kept: &mut Vec<u64>, item| {
            kept.clear();
            kept.push(work.run(item));
            kept[0]
        })
        .fold(Digest::EMPTY, Digest::with)
}
