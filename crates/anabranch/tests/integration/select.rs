//! Several streams as one: everything comes, in the order of each stream, and nobody waits for another one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use anabranch::{CancelToken, Pool, Stream, TryStream};

#[test]
fn everything_comes_and_each_stream_keeps_its_order() {
    let pool = Arc::new(Pool::new(2));
    for workers in 1..=3 {
        let streams = (0..4u64).map(|stream| {
            let items = Stream::from_iter(0..500 * stream).workers(workers).pool(&pool);
            items.map(move |n| (stream, n))
        });
        let all: Vec<(u64, u64)> = Stream::select_all(streams).workers(workers).map(|item| item).collect();
        assert_eq!(all.len(), 3_000);
        for stream in 0..4 {
            let own = all.iter().filter(|item| item.0 == stream).map(|item| item.1);
            assert!(own.eq(0..500 * stream), "stream {stream} with {workers} workers");
        }
    }
    assert_eq!(Stream::select_all(Vec::<Stream<u8>>::new()).count(), 0);
}

#[test]
fn a_stream_that_waits_holds_up_no_other() {
    let (go_on, waits) = channel();
    let slow: Stream<u32> = Stream::from_iter(waits);
    let fast = Stream::from_iter(0..1_000u32);
    let mut seen = 0;
    let mut go_on = Some(go_on);
    Stream::select_all([slow, fast]).workers(2).for_each(|item| {
        seen += 1;
        if seen == 1_000 {
            // Only now the slow stream gets its item.
            go_on.take().unwrap().send(77).unwrap();
        }
        assert_eq!(item == 77 && seen > 100, seen == 1_001);
    });
    assert_eq!(seen, 1_001);
}

#[test]
fn the_first_failure_in_time_ends_all() {
    let (_keep, waits) = Stream::<'static, _>::channel(1);
    let waiting: TryStream<u32, String> = waits.into();
    let failing = Stream::from_iter(["1", "x", "3"])
        .try_map(|text: &str| text.parse::<u32>().map_err(|e| e.to_string()));
    let mut seen = Vec::new();
    let result = Stream::select_all([waiting, failing]).for_each(|n| seen.push(n));
    assert_eq!(result.unwrap_err(), "invalid digit found in string");
    assert_eq!(seen, [1]);
}

#[test]
fn a_panic_comes_through_whole() {
    let endless = Stream::from_iter(0u64..);
    let panics = Stream::from_iter([1, 2]).map(|n| if n == 2 { std::panic::panic_any(n) } else { n });
    let result = catch_unwind(AssertUnwindSafe(|| Stream::select_all([endless, panics]).for_each(drop)));
    assert_eq!(*result.unwrap_err().downcast::<u64>().unwrap(), 2);
}

#[test]
fn no_thread_outlives_the_stream_however_it_ends() {
    let shared = Arc::new(());
    let streams = || {
        [1u64, 2].map(|factor| {
            let held = Arc::clone(&shared);
            Stream::from_iter(0u64..).map(move |n| {
                let _ = &held;
                n * factor
            })
        })
    };
    assert_eq!(Stream::select_all(streams()).take(100).count(), 100);
    assert_eq!(Arc::strong_count(&shared), 1, "after a stream that had enough");
    drop(Stream::select_all(streams()));
    assert_eq!(Arc::strong_count(&shared), 1, "after a stream that was not run");
    let token = CancelToken::new();
    let mut seen = 0;
    Stream::select_all(streams()).cancel_by(&token).for_each(|_| {
        seen += 1;
        if seen == 50 {
            token.cancel();
        }
    });
    assert_eq!(Arc::strong_count(&shared), 1, "after a stream that was cancelled");
}

#[test]
fn timed_chunks_have_all_items_in_order() {
    for workers in 1..=3 {
        for most in [1, 7, 1_000, usize::MAX] {
            for time in [Duration::ZERO, Duration::from_micros(50), Duration::MAX] {
                let stream = Stream::from_iter(0..1_000u64).workers(workers).map(|n| n);
                let chunks: Vec<Vec<u64>> = stream.chunks_timeout(most, time).workers(workers).collect();
                assert!(chunks.iter().all(|chunk| (1..=most).contains(&chunk.len())));
                assert!(chunks.concat().into_iter().eq(0..1_000));
                if time == Duration::MAX {
                    // Each but the last is full.
                    assert_eq!(chunks.len(), 1_000usize.div_ceil(most), "{most} at most");
                }
            }
        }
    }
}

#[test]
fn a_timed_chunk_waits_for_its_time_and_not_for_items() {
    let (sender, stream) = Stream::channel(16);
    let (results, receiver) = channel();
    let run = std::thread::spawn(move || {
        let chunks = stream.chunks_timeout(10, Duration::from_millis(1)).workers(2);
        chunks.for_each(|chunk| results.send(chunk.len()).unwrap());
    });
    for _ in 0..10 {
        (0..5).for_each(|n| sender.send(n).unwrap());
        // The five come out before anything else is posted.
        let mut came = 0;
        while came < 5 {
            came += receiver.recv().unwrap();
        }
    }
    drop(sender);
    run.join().unwrap();

    // Items that come in time are in the chunk.
    let (sender, stream) = Stream::channel(16);
    let chunks = stream.chunks_timeout(3, Duration::MAX).into_iter();
    let posts = std::thread::spawn(move || {
        for n in 0..6 {
            sender.send(n).unwrap();
            std::thread::yield_now();
        }
    });
    assert_eq!(chunks.collect::<Vec<_>>(), [[0, 1, 2], [3, 4, 5]]);
    posts.join().unwrap();
}

#[test]
fn a_failure_comes_behind_the_timed_chunk_before_it() {
    let parse = |text: &str| text.parse::<u32>().map_err(|error| error.to_string());
    let numbers = Stream::from_iter(["1", "2", "x", "3"]).try_map(parse);
    let mut seen = Vec::new();
    let result = numbers.chunks_timeout(10, Duration::MAX).for_each(|chunk| seen.push(chunk));
    assert_eq!(result.unwrap_err(), "invalid digit found in string");
    assert_eq!(seen, [[1, 2]]);

    let panics = Stream::from_iter([1, 2]).map(|n| if n == 2 { std::panic::panic_any(n) } else { n });
    let payload = catch_unwind(AssertUnwindSafe(|| panics.chunks_timeout(1, Duration::MAX).for_each(drop)));
    assert_eq!(payload.unwrap_err().downcast_ref(), Some(&2));
}

#[test]
fn a_stream_of_timed_chunks_that_is_dropped_or_cancelled_ends() {
    let (sender, stream) = Stream::channel(1);
    drop(stream.chunks_timeout(3, Duration::MAX));
    assert!(sender.send(1).is_err());

    let (sender, stream) = Stream::channel(1);
    let token = CancelToken::new();
    let chunks = stream.chunks_timeout(3, Duration::MAX).cancel_by(&token);
    let run = std::thread::spawn(move || chunks.count());
    sender.send(1).unwrap();
    // The chunk waits for two more items.
    token.cancel();
    assert!(run.join().unwrap() <= 1);
    while sender.send(2).is_ok() {}
}
