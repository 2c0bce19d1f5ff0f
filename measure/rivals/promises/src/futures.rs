//! Streams of futures on tokio: `buffered`, and `par-stream`.

use std::future::ready;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use ::futures::{StreamExt, stream};
use ::par_stream::{ParParams, ParStreamExt};
use tokio::runtime::{Builder, Runtime};

use crate::Job;
use crate::channels::chunked;
use crate::work::Digest;

/// Created once, so that its creation is not measured.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let threads = available_parallelism().map_or(1, usize::from);
    Builder::new_multi_thread().worker_threads(threads).build().expect("threads for tokio")
});

/// One task for each item, which is faster here than `spawn_blocking`, and at most `setting` of them at once.
pub fn buffered(job: Job) -> u64 {
    let tasks = stream::iter(0..job.items)
        .map(move |item| tokio::spawn(async move { job.work.run(item) }))
        .buffered(job.setting);
    let results =
        tasks.fold(Digest::EMPTY, |digest, item| ready(digest.with(item.expect("work does not panic"))));
    RUNTIME.block_on(results).number()
}

/// Futures without tasks of their own: the thread that waits for the results polls them.
pub fn polled(job: Job) -> u64 {
    let futures = stream::iter(0..job.items).map(move |item| async move { job.work.run(item) });
    let results = futures.buffered(job.setting).fold(Digest::EMPTY, |digest, item| ready(digest.with(item)));
    RUNTIME.block_on(results).number()
}

/// One task for each chunk of `setting` items.
pub fn buffered_chunks(job: Job) -> u64 {
    let tasks = stream::iter(chunked(job.items, job.setting))
        .map(move |mut chunk| {
            tokio::spawn(async move {
                chunk.iter_mut().for_each(|item| *item = job.work.run(*item));
                chunk
            })
        })
        .buffered(16);
    let results = tasks.fold(Digest::EMPTY, |digest, chunk| {
        ready(chunk.expect("work does not panic").into_iter().fold(digest, Digest::with))
    });
    RUNTIME.block_on(results).number()
}

/// At most `setting` results wait.
pub fn par_stream(job: Job) -> u64 {
    RUNTIME.block_on(async move {
        let params = ParParams { num_workers: job.threads, buf_size: Some(job.setting) };
        stream::iter(0..job.items)
            .par_map(params, move |item| move || job.work.run(item))
            .fold(Digest::EMPTY, |digest, item| ready(digest.with(item)))
            .await
            .number()
    })
}
