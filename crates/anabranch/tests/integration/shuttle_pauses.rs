//! Whole runs that are paused, in many schedules: nothing is lost, nothing comes twice, and every run ends.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use crate::model::check;
use anabranch::{CancelToken, Stream};
use anabranch_record::sync::thread;

const ITEMS: u64 = 4;

/// Runs a stream while other threads do something with its token. Returns what came out.
///
/// They are not scoped threads: in shuttle, the end of a scoped thread wakes the thread that waits in the body of the scope,
/// even if that waits for something else.
fn run(workers: usize, window: usize, others: &[fn(&CancelToken)]) -> Vec<u64> {
    let token = CancelToken::new();
    let threads = others.iter().map(|&other| {
        let token = token.clone();
        thread::spawn(move || other(&token))
    });
    let threads: Vec<_> = threads.collect();
    let mut seen = Vec::new();
    Stream::from_iter(0..ITEMS)
        .workers(workers)
        .window(window)
        .burst(1)
        .cancel_by(&token)
        .map(|n| n + 10)
        .for_each(|n| seen.push(n));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    seen
}

fn once(token: &CancelToken) {
    token.pause();
    token.resume();
}

fn twice(token: &CancelToken) {
    once(token);
    once(token);
}

fn pauses(workers: usize, window: usize, other: fn(&CancelToken)) {
    assert_eq!(run(workers, window, &[other]), [10, 11, 12, 13]);
}

#[test]
fn a_stream_goes_on_after_a_pause() {
    for (workers, window, other) in [(2, 1, once as fn(&CancelToken)), (2, 4, once), (3, 2, twice)] {
        check(200, move || pauses(workers, window, other));
    }
}

#[test]
fn one_worker_goes_on_after_a_pause() {
    for other in [once, twice] {
        check(200, move || pauses(1, 2, other));
    }
}

/// The results of a stream that ended early: the first items, and each once.
fn is_a_beginning(seen: &[u64]) {
    assert!(seen.iter().copied().eq(10..10 + seen.len() as u64) && seen.len() <= ITEMS as usize, "{seen:?}");
}

fn pause_and_drain(token: &CancelToken) {
    token.pause();
    token.drain();
}

fn pause_and_cancel(token: &CancelToken) {
    token.pause();
    token.cancel();
}

#[test]
fn a_paused_stream_is_drained_or_cancelled() {
    for (workers, window) in [(1, 2), (2, 2), (3, 3)] {
        for other in [pause_and_drain, pause_and_cancel] {
            check(150, move || is_a_beginning(&run(workers, window, &[other])));
        }
    }
}

#[test]
fn of_two_threads_one_pauses_and_one_ends() {
    check(300, || is_a_beginning(&run(2, 2, &[CancelToken::pause, CancelToken::drain])));
}
