//! Three serial stages.

use anabranch::Stream;
use measure_harness::work::{Digest, Work};

pub fn run(work: Work, items: u64, workers: usize) -> Digest {
    Stream::from_iter(0..items)
        .workers(workers)
        .serial_map(move |item| work.run(item))
        .serial_map(|item| item ^ 5)
        .serial_map(|item| item ^ 5)
        .fold(Digest::EMPTY, Digest::with)
}
