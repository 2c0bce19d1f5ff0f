//! Runs of eight items, one after another on one pool.

use anabranch::{Pool, Stream};
use measure_harness::work::{Digest, Work};

const ITEMS: u64 = 8;

pub fn run(work: Work, items: u64, workers: usize) -> Digest {
    let pool = Pool::new(workers);
    (0..items / ITEMS).fold(Digest::EMPTY, |digest, run| {
        Stream::from_iter(run * ITEMS..(run + 1) * ITEMS)
            .pool(&pool)
            .map(move |item| work.run(item))
            .fold(digest, Digest::with)
    })
}
