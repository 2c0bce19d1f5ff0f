//! Streams of futures with `buffered`. The words of a request are `NAME LIMIT ROUNDS ITEMS`: at most `LIMIT` futures are under
//! way, and each of the items has work of so many rounds.

use std::future::ready;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use ::futures::{StreamExt, stream};
use measure_harness::rival::{Answer, number};
use measure_harness::work::{Digest, Work};
use tokio::runtime::{Builder, Runtime};

/// Created once, so that its creation is not measured.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let threads = available_parallelism().map_or(1, usize::from);
    Builder::new_multi_thread().worker_threads(threads).build().expect("threads for tokio")
});

fn parts(words: &[&str]) -> Result<(usize, Work, u64), String> {
    Ok((number(words, 1)?, Work::calibrated(number(words, 2)?, false), number(words, 3)?))
}

/// One task for each item, which is faster here than `spawn_blocking`.
pub fn buffered(words: &[&str]) -> Result<Answer, String> {
    let (limit, work, items) = parts(words)?;
    Ok(Answer::timed(|| {
        let tasks = stream::iter(0..items)
            .map(move |item| tokio::spawn(async move { work.run(item) }))
            .buffered(limit);
        let results =
            tasks.fold(Digest::EMPTY, |digest, item| ready(digest.with(item.expect("work does not panic"))));
        RUNTIME.block_on(results).number()
    }))
}

/// Futures without tasks of their own: the thread that waits for the results polls them.
pub fn polled(words: &[&str]) -> Result<Answer, String> {
    let (limit, work, items) = parts(words)?;
    Ok(Answer::timed(|| {
        let futures = stream::iter(0..items).map(move |item| async move { work.run(item) });
        let results = futures.buffered(limit).fold(Digest::EMPTY, |digest, item| ready(digest.with(item)));
        RUNTIME.block_on(results).number()
    }))
}
