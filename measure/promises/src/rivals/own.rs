//! Anabranch's part in the contests.

use std::thread;
use std::time::Instant;

use anabranch::Stream;

use super::peer::SETTLE;
use measure_harness::rounds::Contender;
use measure_harness::work::{Digest, Work};

/// The sizes of chunks of which the best is used, as for the rivals.
const CHUNKS: [usize; 3] = [16, 256, 2_048];

/// Item by item. Its sample is in nanoseconds an item.
pub fn items(work: Work, items: u64) -> Contender<'static> {
    sampled("anabranch", work, items, move || each(work, items))
}

/// From a source that never waits, so that items travel in blocks.
pub fn never_waits(work: Work, items: u64) -> Contender<'static> {
    sampled("anabranch, never waits", work, items, move || blocks(work, items))
}

/// In chunks that are gathered by hand.
pub fn in_chunks(work: Work, items: u64, size: usize) -> Contender<'static> {
    sampled("anabranch, in chunks", work, items, move || chunks(work, items, size))
}

/// The size of chunks with which it is fastest, by the shorter of two runs each.
pub fn best_chunk(work: Work, items: u64) -> usize {
    let time = |size: usize| {
        let run = || {
            let start = Instant::now();
            chunks(work, items, size);
            start.elapsed()
        };
        run().min(run())
    };
    CHUNKS.into_iter().min_by_key(|&size| time(size)).unwrap_or(1)
}

fn sampled(name: &str, work: Work, items: u64, run: impl Fn() -> Digest + 'static) -> Contender<'static> {
    Contender::sampled(name, work.fold(0..items), move || {
        thread::sleep(SETTLE);
        let start = Instant::now();
        let digest = run();
        (start.elapsed().as_secs_f64() * 1e9 / items as f64, digest)
    })
}

/// The pipeline with its default settings.
fn each(work: Work, items: u64) -> Digest {
    Stream::from_iter(0..items).map(move |item| work.run(item)).fold(Digest::EMPTY, Digest::with)
}

fn blocks(work: Work, items: u64) -> Digest {
    let source = Stream::from_iter(0..items).never_waits();
    source.map(move |item| work.run(item)).fold(Digest::EMPTY, Digest::with)
}

fn chunks(work: Work, items: u64, size: usize) -> Digest {
    let mut left = 0..items;
    let source = std::iter::from_fn(move || {
        let chunk: Vec<u64> = left.by_ref().take(size).collect();
        (!chunk.is_empty()).then_some(chunk)
    });
    let map = move |mut chunk: Vec<u64>| {
        chunk.iter_mut().for_each(|item| *item = work.run(*item));
        chunk
    };
    let sink = |digest, chunk: Vec<u64>| chunk.into_iter().fold(digest, Digest::with);
    Stream::from_iter(source).map(map).fold(Digest::EMPTY, sink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_blocks_and_single_items_give_the_same() {
        let work = Work::calibrated(3, true);
        assert_eq!(blocks(work, 10_000), work.fold(0..10_000));
        assert_eq!(each(work, 10_000), work.fold(0..10_000));
        assert!(CHUNKS.iter().all(|&size| chunks(work, 10_000, size) == work.fold(0..10_000)));
    }
}
