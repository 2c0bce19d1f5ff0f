//! Whole runs that stop early, in many schedules. The sink has exactly the items before the first failure,
//! and every thread ends.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::model::check;
use anabranch::{Source, Stream};
use anabranch_record::sync::{AtomicU64, Ordering};

const ITEMS: u64 = 5;

/// A line that fails at `node` (from 0, the source, to 4, the sink) with item `at`. The first parallel stage
/// also fails with every later item, and such a failure may be known earlier.
fn fails(node: u64, at: u64, workers: usize, window: usize) {
    let fail = move |here: u64, n: u64| if here == node && n == at { Err((here, n)) } else { Ok(n) };
    let mut seen = Vec::new();
    let result = Stream::try_from_iter((0..ITEMS).map(|n| fail(0, n)))
        .workers(workers)
        .window(window)
        .burst(1)
        .try_map(|n| if n > at { Err((9, n)) } else { fail(1, n) })
        .try_serial_map(|n| fail(2, n))
        .try_map(|n| fail(3, n))
        .try_for_each(|n| {
            fail(4, n)?;
            seen.push(n);
            Ok(())
        });
    assert_eq!(result, Err((node, at)));
    assert_eq!(seen, (0..at).collect::<Vec<_>>());
}

#[test]
fn the_first_failure_is_the_loops_wherever_it_is() {
    for node in 0..5 {
        for (at, workers, window) in [(0, 2, 1), (0, 2, 4), (1, 3, 2), (2, 3, 4), (4, 2, 3)] {
            check(60, move || fails(node, at, workers, window));
        }
    }
}

/// Like [`fails`], with panics.
fn panics(node: u64, at: u64, workers: usize, window: usize) {
    let fail = move |here: u64, n: u64| {
        if here == node && n == at {
            // `panic!` would print a message for each of many thousands.
            resume_unwind(Box::new((here, n)));
        }
        n
    };
    let mut seen = Vec::new();
    let result = catch_unwind(AssertUnwindSafe(|| {
        Stream::from_iter((0..ITEMS).map(|n| fail(0, n)))
            .workers(workers)
            .window(window)
            .burst(1)
            .map(|n| fail(1, n))
            .serial_map(|n| fail(2, n))
            .map(|n| fail(3, n))
            .for_each(|n| seen.push(fail(4, n)));
    }));
    let payload = result.expect_err("it panics");
    assert_eq!(payload.downcast_ref::<(u64, u64)>(), Some(&(node, at)));
    assert_eq!(seen, (0..at).collect::<Vec<_>>());
}

#[test]
fn a_panic_is_resumed_wherever_it_is() {
    for node in 0..5 {
        for (at, workers, window) in [(0, 2, 1), (1, 3, 2), (2, 2, 4), (4, 3, 3)] {
            check(60, move || panics(node, at, workers, window));
        }
    }
}

#[test]
fn a_factory_that_panics_fails_at_the_item_that_needed_it() {
    check(300, || {
        let made = AtomicU64::new(0);
        let factory = || {
            if made.fetch_add(1, Ordering::SeqCst) == 1 {
                resume_unwind(Box::new("factory"));
            }
        };
        let mut seen = 0;
        let result = catch_unwind(AssertUnwindSafe(|| {
            let stream = Stream::from_iter(0..ITEMS).workers(2).window(3).burst(1);
            stream.map_init(factory, |(), n| n).for_each(|n| {
                assert_eq!(n, seen);
                seen += 1;
            });
        }));
        match result {
            Ok(()) => assert_eq!(seen, ITEMS, "one worker did it all"),
            Err(payload) => assert_eq!(payload.downcast_ref(), Some(&"factory")),
        }
    });
}

#[test]
fn a_sink_that_has_enough() {
    for (workers, window) in [(2, 1), (2, 3), (3, 2)] {
        check(200, move || {
            let stream = Stream::from_iter(0..).workers(workers).window(window).map(|n: u64| n);
            assert_eq!(stream.find(|&n| n == 2), Some(2));
        });
    }
}

#[test]
fn a_stage_that_has_enough() {
    for (workers, window) in [(2, 1), (2, 3), (3, 2)] {
        check(200, move || {
            let stream = Stream::from_iter(0..).workers(workers).window(window).burst(1).map(|n: u64| n);
            assert_eq!(stream.take(3).map(|n| n).collect::<Vec<_>>(), [0, 1, 2]);
        });
    }
}

#[test]
fn a_failure_ends_a_run_with_dedicated_stages() {
    check(300, || {
        let stream = Source::try_new((0..ITEMS).map(|n| if n == 3 { Err(n) } else { Ok(n) }))
            .dedicated()
            .into_stream()
            .workers(2)
            .window(2);
        let mut seen = Vec::new();
        let result = stream.map(|n| n).dedicated().serial_map(|n| n).for_each(|n| seen.push(n));
        assert_eq!((result, seen), (Err(3), vec![0, 1, 2]));
    });
}

/// Counts the items that are alive.
struct Counted<'c>(u64, &'c AtomicU64);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn every_item_is_dropped_once_when_one_fails() {
    for (workers, window) in [(2, 2), (3, 4)] {
        check(200, move || {
            let (made, dropped) = (AtomicU64::new(0), AtomicU64::new(0));
            let items = (0..ITEMS).map(|n| {
                made.fetch_add(1, Ordering::SeqCst);
                Counted(n, &dropped)
            });
            let stream = Stream::from_iter(items).workers(workers).window(window).burst(1);
            let result = stream
                .try_map(|item| if item.0 == 2 { Err(item.0) } else { Ok(item) })
                .serial_map(|item| item)
                .map(|item| item)
                .for_each(drop);
            assert_eq!(result, Err(2));
            assert_eq!(made.load(Ordering::SeqCst), dropped.load(Ordering::SeqCst));
        });
    }
}

#[test]
fn the_source_is_not_asked_once_a_failure_is_known() {
    // Two items panic. The payload that loses is dropped after the failure is known. From then on no call of
    // `next` may begin, except one that had passed its check already.
    struct Loser<'c>(&'c AtomicU64);
    impl Drop for Loser<'_> {
        fn drop(&mut self) {
            self.0.store(1, Ordering::SeqCst);
        }
    }
    check(1_000, || {
        let known: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
        let late = AtomicU64::new(0);
        let items = (0..12u64).inspect(|_| {
            late.fetch_add(known.load(Ordering::SeqCst), Ordering::SeqCst);
        });
        let result = catch_unwind(AssertUnwindSafe(|| {
            let stream = Stream::from_iter(items).workers(3).window(12).burst(1);
            stream
                .map(|n| {
                    if n < 2 {
                        resume_unwind(Box::new(Loser(known)));
                    }
                })
                .for_each(drop);
        }));
        assert!(late.load(Ordering::SeqCst) <= 1, "the source was asked after a failure was known");
        drop(result);
    });
}
