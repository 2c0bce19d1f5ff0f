//! Parallel forms of iterators: `orx-parallel`, `pariter`, and rayon's `par_bridge`, which gives up the
//! order.

use ::pariter::IteratorExt;
use orx_parallel::{IterIntoParIter, Par};
use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::Job;
use crate::channels::chunked;
use crate::work::Digest;

/// Takes any iterator, as the source of a stream does. It keeps the order only for the collected results. It
/// pulls `setting` items at once; 0 leaves the choice to it.
pub fn orx(job: Job) -> u64 {
    // The filter makes it a plain iterator. A range would need no lock, but a source can be any iterator.
    let source = (0..job.items).filter(|_| true);
    let results: Vec<u64> = source
        .iter_into_par()
        .num_threads(job.threads)
        .chunk_size(job.setting)
        .map(move |item| job.work.run(item))
        .collect();
    results.into_iter().fold(Digest::EMPTY, Digest::with).number()
}

/// At most `setting` items are buffered for each thread.
pub fn pariter(job: Job) -> u64 {
    (0..job.items)
        .parallel_map_custom(
            |builder| builder.threads(job.threads).buffer_size(job.setting),
            move |item| job.work.run(item),
        )
        .fold(Digest::EMPTY, Digest::with)
        .number()
}

/// Chunks of `setting` items.
pub fn pariter_chunks(job: Job) -> u64 {
    chunked(job.items, job.setting)
        .parallel_map_custom(
            |builder| builder.threads(job.threads).buffer_size(16),
            move |mut chunk: Vec<u64>| {
                chunk.iter_mut().for_each(|item| *item = job.work.run(*item));
                chunk
            },
        )
        .flatten()
        .fold(Digest::EMPTY, Digest::with)
        .number()
}

/// The results come in any order, so they are summed up.
pub fn par_bridge(job: Job) -> u64 {
    let results = (0..job.items).par_bridge().map(|item| job.work.run(item));
    results.fold(|| 0, u64::wrapping_add).reduce(|| 0, u64::wrapping_add)
}

/// Chunks of `setting` items.
pub fn par_bridge_chunks(job: Job) -> u64 {
    let sum =
        |chunk: Vec<u64>| chunk.into_iter().fold(0, |sum: u64, item| sum.wrapping_add(job.work.run(item)));
    chunked(job.items, job.setting).par_bridge().map(sum).reduce(|| 0, u64::wrapping_add)
}
