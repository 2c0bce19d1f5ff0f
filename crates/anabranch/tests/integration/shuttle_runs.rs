//! Whole runs of the threads executor in many schedules: the output is the plain loop's, and every run ends.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use crate::model::{Gate, check};
use anabranch::{Source, Stream};
use anabranch_record::sync::{AtomicU64, Ordering};

const ITEMS: u64 = 5;

/// Checks a model for each number of workers and each window.
fn sizes(model: impl Fn(usize, usize) + Send + Sync + Copy + 'static) {
    for (workers, window) in [(2, 1), (2, 2), (2, 4), (3, 1), (3, 2), (3, 3)] {
        check(150, move || model(workers, window));
    }
}

#[test]
fn a_parallel_stage_keeps_the_order() {
    sizes(|workers, window| {
        let out: Vec<u64> =
            Stream::from_iter(0..ITEMS).workers(workers).window(window).map(|n| n + 10).collect();
        assert_eq!(out, [10, 11, 12, 13, 14]);
    });
}

#[test]
fn claims_of_one_item_keep_the_order() {
    sizes(|workers, window| {
        let stream = Stream::from_iter(0..ITEMS).workers(workers).window(window).burst(1);
        let out: Vec<u64> = stream.filter_map(|n| (n % 2 == 0).then_some(n)).collect();
        assert_eq!(out, [0, 2, 4]);
    });
}

#[test]
fn two_serial_stages_between_parallel_ones() {
    sizes(|workers, window| {
        let (mut first, mut second) = (0, 0);
        let out: Vec<u64> = Stream::from_iter(0..ITEMS)
            .workers(workers)
            .window(window)
            .burst(1)
            .map(|n| n + 1)
            .serial_map(|n| {
                first += n;
                first
            })
            .map(|n| n * 2)
            .serial_map(|n| {
                second += n;
                second
            })
            .map(|n| n + 1)
            .collect();
        assert_eq!(out, [3, 9, 21, 41, 71]);
    });
}

#[test]
fn serial_neighbours_hand_over() {
    sizes(|workers, window| {
        let mut sum = 0;
        let out: Vec<(usize, u64)> = Stream::from_iter(0..ITEMS)
            .workers(workers)
            .window(window)
            .serial_map(|n| {
                sum += n;
                sum
            })
            .enumerate()
            .map(|(at, n)| (at, n + 1))
            .collect();
        assert_eq!(out, [(0, 1), (1, 2), (2, 4), (3, 7), (4, 11)]);
    });
}

#[test]
fn a_last_batch_is_given_at_the_end() {
    sizes(|workers, window| {
        let stream = Stream::from_iter(0..ITEMS).workers(workers).window(window).map(|n| n).chunks(2);
        assert_eq!(stream.map(|batch| batch.len()).collect::<Vec<_>>(), [2, 2, 1]);
    });
}

#[test]
fn dedicated_stages_and_a_dedicated_source() {
    for (workers, window) in [(1, 1), (1, 2), (2, 1), (2, 3)] {
        check(150, move || {
            let mut sum = 0;
            let out: Vec<u64> = Source::new(0..ITEMS)
                .dedicated()
                .into_stream()
                .workers(workers)
                .window(window)
                .map(|n| n + 1)
                .dedicated()
                .serial_map(|n| {
                    sum += n;
                    sum
                })
                .map(|n| n + 1)
                .collect();
            assert_eq!(out, [2, 4, 7, 11, 16]);
        });
    }
}

#[test]
fn a_dedicated_stage_right_behind_a_dedicated_source() {
    for (workers, window) in [(1, 1), (2, 2)] {
        check(150, move || {
            let stream = Source::new(0..ITEMS).dedicated().into_stream().workers(workers).window(window);
            let out: Vec<u64> = stream.dedicated().serial_map(|n| n + 1).map(|n| n).collect();
            assert_eq!(out, [1, 2, 3, 4, 5]);
        });
    }
}

#[test]
fn no_more_replicas_than_asked_for_at_once() {
    sizes(|workers, window| {
        let inside = AtomicU64::new(0);
        let stream = Stream::from_iter(0..ITEMS).workers(workers).window(window).burst(1);
        let out: Vec<u64> = stream
            .replicas(1)
            .map(|n| {
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "one replica, two calls");
                shuttle::thread::yield_now();
                inside.fetch_sub(1, Ordering::SeqCst);
                n
            })
            .collect();
        assert_eq!(out, [0, 1, 2, 3, 4]);
    });
}

#[test]
fn no_more_than_a_window_is_in_flight() {
    sizes(|workers, window| {
        let (asked, passed) = (Gate::new(), Gate::new());
        let items = (0..ITEMS).inspect(|_| {
            asked.pass();
            assert!(asked.count() <= passed.count() + window as u64, "more than a window is in flight");
        });
        Stream::from_iter(items).workers(workers).window(window).map(|n| n).for_each(|_| passed.pass());
    });
}

#[test]
fn units_behind_boxes_keep_the_order_and_the_first_failure() {
    sizes(|workers, window| {
        let stream = Stream::from_iter(0..ITEMS).workers(workers).window(window);
        let out: Vec<u64> = stream.map(|n| n + 1).map(|n| n * 2).map(|n| n + 1).collect();
        assert_eq!(out, [3, 5, 7, 9, 11]);
        let stream = Stream::from_iter(0..ITEMS).workers(workers).window(window);
        let failing = stream.try_map(|n| if n == 3 { Err(n) } else { Ok(n) });
        let failing = failing.try_map(|n| if n == 2 { Err(n) } else { Ok(n) });
        let mut seen = Vec::new();
        assert_eq!(failing.for_each(|n| seen.push(n)), Err(2));
        assert_eq!(seen, [0, 1]);
    });
}
