//! Items that go to two branches, each with half of the work, and are merged.

use anabranch::Stream;
use measure_harness::work::{Digest, Work};

pub fn run(work: Work, items: u64, workers: usize) -> Digest {
    let each = |item: u64, branch: u64| if item % 2 == branch { work.run(item) } else { item };
    Stream::from_iter(0..items)
        .workers(workers)
        .broadcast()
        .branch(|items| items.map(move |item| each(item, 0)))
        .branch(|items| items.map(move |item| each(item, 1)))
        .merge()
        .enumerate()
        .filter_map(|(at, item)| (at as u64 % 2 == (at as u64 / 2) % 2).then_some(item))
        .fold(Digest::EMPTY, Digest::with)
}
