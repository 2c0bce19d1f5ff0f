//! A source, one parallel stage and an ordered fold.

use anabranch::Stream;
use measure_harness::work::{Digest, Work};

pub fn run(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .map(move |item| work.run(item))
        .fold(Digest::EMPTY, Digest::with)
}
