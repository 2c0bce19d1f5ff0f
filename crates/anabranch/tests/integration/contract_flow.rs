//! How items flow: the bound holds, a full window stops the source, results are prompt, and waiting is free
//! (C3, C4, C5, C10).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::contract_support::process;
use crate::contract_support::watchdog::{Gate, LIMIT, comes_true, stays_true, within};
use anabranch::{Pool, Source, Stream};

/// Counts the items between source and sink, and the most that there ever were.
#[derive(Default)]
struct Between {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Between {
    fn pulled<T>(&self, item: T) -> T {
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        item
    }

    fn delivered(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

#[test]
fn a_slow_sink_holds_a_fast_source_to_the_window() {
    within(|| {
        for workers in [1, 2, 4, 9] {
            for window in [1, 3, 16, 33] {
                let between = Between::default();
                Stream::from_iter((0..200).map(|n| between.pulled(n)))
                    .workers(workers)
                    .window(window)
                    .map(|n| n)
                    .serial_map(|n| n)
                    .map(|n| n)
                    .for_each(|n| {
                        // With helpers the window is used, not only kept: it fills up behind the first item.
                        let is_full = || workers == 1 || between.most() >= window;
                        assert!(n > 0 || comes_true(LIMIT / 2, is_full), "{} of {window}", between.most());
                        between.delivered();
                    });
                assert!(between.most() <= window, "{} of {window}, {workers} workers", between.most());
            }
        }
    });
}

#[test]
fn one_slow_item_in_front_of_twenty_thousand_quick_ones_keeps_the_bound() {
    within(|| {
        for (workers, window) in [(2, 64), (4, 64), (4, 1_000), (3, 1)] {
            let between = Between::default();
            let mut next = 0;
            Stream::from_iter((0..20_001).map(|n| between.pulled(n)))
                .workers(workers)
                .window(window)
                .map(|n| {
                    if n == 0 {
                        thread::sleep(Duration::from_millis(100));
                    }
                    n
                })
                .for_each(|n| {
                    assert_eq!(n, next);
                    next += 1;
                    between.delivered();
                });
            assert_eq!(next, 20_001);
            assert!(between.most() <= window, "{} of {window}", between.most());
        }
    });
}

#[test]
fn a_slow_serial_stage_in_the_middle_keeps_the_bound() {
    within(|| {
        for window in [1, 8, 40] {
            let between = Between::default();
            Stream::from_iter((0..400).map(|n| between.pulled(n)))
                .workers(4)
                .window(window)
                .map(|n| n)
                .serial_map(|n| {
                    if n % 16 == 0 {
                        thread::sleep(Duration::from_micros(300));
                    }
                    n
                })
                .map(|n| n)
                .for_each(|_| between.delivered());
            assert!(between.most() <= window, "{} of {window}", between.most());
        }
    });
}

#[test]
fn dropped_items_count_until_the_sink_has_passed_them() {
    within(|| {
        // Only the first item is ever delivered, and the sink holds it, so the source gives one window of
        // items.
        let gate = Gate::default();
        let asked = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                assert!(comes_true(LIMIT / 2, || asked.load(Ordering::SeqCst) == 8));
                assert!(stays_true(|| asked.load(Ordering::SeqCst) == 8));
                gate.open();
            });
            Stream::from_iter((0..1_000).inspect(|_| {
                asked.fetch_add(1, Ordering::SeqCst);
            }))
            .workers(3)
            .window(8)
            .filter(|&n| n == 0)
            .for_each(|_| gate.pass());
        });
        assert_eq!(asked.into_inner(), 1_000);
    });
}

#[test]
fn a_source_that_pauses_holds_nothing_back() {
    within(|| {
        for workers in 2..5 {
            for window in [5, 6, 64] {
                let (all_five, seen) = (Gate::default(), AtomicUsize::new(0));
                let source = (0..10).inspect(|&n| {
                    if n == 5 {
                        assert!(
                            all_five.opens_within(LIMIT / 2),
                            "{workers} workers: {} of 5 are out while the source waits",
                            seen.load(Ordering::SeqCst)
                        );
                    }
                });
                Stream::from_iter(source).workers(workers).window(window).map(|n| n).for_each(|_| {
                    if seen.fetch_add(1, Ordering::SeqCst) + 1 == 5 {
                        all_five.open();
                    }
                });
                assert_eq!(seen.into_inner(), 10);
            }
        }
    });
}

#[test]
fn a_source_that_pauses_after_each_item_holds_none_back() {
    within(|| {
        for workers in 2..5 {
            let seen = AtomicUsize::new(0);
            let source = (0..300).inspect(|&n| {
                let all = || seen.load(Ordering::SeqCst) == n;
                assert!(comes_true(LIMIT / 2, all), "{workers} workers: item {n} is not out");
            });
            // The source is followed by stages of every kind.
            Stream::from_iter(source)
                .workers(workers)
                .window(64)
                .serial_map(|n| n)
                .map(|n| n)
                .serial_map(|n| n)
                .serial_map(|n| n)
                .flat_map(|n| [n])
                .serial_map(|n| n)
                .map(|n| n)
                .for_each(|_| {
                    seen.fetch_add(1, Ordering::SeqCst);
                });
        }
    });
}

#[test]
fn a_source_that_pauses_on_a_thread_of_its_own_holds_nothing_back() {
    within(|| {
        for workers in 1..4 {
            let seen = AtomicUsize::new(0);
            let source = (0..300).inspect(|&n| {
                let all = || seen.load(Ordering::SeqCst) == n;
                assert!(comes_true(LIMIT / 2, all), "{workers} workers: item {n} is not out");
            });
            Source::new(source)
                .dedicated()
                .into_stream()
                .workers(workers)
                .map(|n| n)
                .serial_map(|n| n)
                .for_each(|_| {
                    seen.fetch_add(1, Ordering::SeqCst);
                });
        }
    });
}

#[test]
fn a_result_at_the_head_does_not_wait_for_those_behind_it() {
    within(|| {
        // Item 1 is held until item 0 has reached the sink.
        for workers in 2..5 {
            for _ in 0..20 {
                let out = Gate::default();
                Stream::from_iter(0..4)
                    .workers(workers)
                    .map(|n| {
                        if n == 1 {
                            out.pass();
                        }
                        n
                    })
                    .for_each(|n| {
                        if n == 0 {
                            out.open();
                        }
                    });
            }
        }
    });
}

/// The share of a core that `body` uses. `None` if the system does not tell.
fn share_of_a_core(body: impl FnOnce()) -> Option<f64> {
    let (before, began) = (process::processor_time()?, Instant::now());
    body();
    Some((process::processor_time()? - before).as_secs_f64() / began.elapsed().as_secs_f64())
}

// Beside other tests of this file the process is not idle, so this one looks at its own threads by running
// in a process of its own: the same test, called with a word in the environment.
#[test]
fn a_slow_source_leaves_the_processor_alone() {
    const ALONE: &str = "CONTRACT_IDLE_ALONE";
    let items =
        |pause: Duration| (0..(1_000 / pause.as_millis() as u64)).inspect(move |_| thread::sleep(pause));
    if std::env::var_os(ALONE).is_some() {
        for workers in [2, 4] {
            let share = share_of_a_core(|| {
                Stream::from_iter(items(Duration::from_millis(100)))
                    .workers(workers)
                    .map(|n| n)
                    .for_each(|_| {});
            });
            println!("share of a core: {share:?}");
            // The promise is 0.5 %, which measure/promises measures. Here a tick of the clock is 1 %, so this test can
            // only tell waiting from spinning.
            assert!(share.is_none_or(|share| share < 0.10), "{workers} workers use {share:?} of a core");
        }
        // Two runs, and a helper that has nothing to do in either of them.
        let pool = Pool::new(3);
        let run = || {
            let stream = Stream::from_iter(items(Duration::from_millis(100))).pool(&pool);
            stream.map(|n| n).for_each(|_| {});
        };
        let share = share_of_a_core(|| {
            thread::scope(|scope| {
                scope.spawn(run);
                run();
            });
        });
        println!("share of a core: {share:?}");
        assert!(share.is_none_or(|share| share < 0.10), "two runs on a pool use {share:?} of a core");
        return;
    }
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    alone.env(ALONE, "1").args([
        "--exact",
        "contract_flow::a_slow_source_leaves_the_processor_alone",
        "--nocapture",
    ]);
    let result = within(move || alone.output().unwrap());
    assert!(
        result.status.success(),
        "{}{}",
        String::from_utf8_lossy(&result.stdout),
        String::from_utf8_lossy(&result.stderr)
    );
}

#[test]
fn a_window_in_bytes_holds_the_source_back() {
    within(|| {
        for workers in [1, 2, 4] {
            for limit in [1, 100, 1_000] {
                let weights = (0..400u64).map(|n| (n * 7919) % 160);
                let in_flight = AtomicU64::new(0);
                let mut sum = 0;
                let source = weights.clone().inspect(|weight| {
                    let before = in_flight.fetch_add(*weight, Ordering::SeqCst);
                    assert!(before < limit, "asked with {before} bytes in flight, the limit being {limit}");
                });
                let stream =
                    Source::new(source).window_bytes(limit, |&weight| weight).into_stream().workers(workers);
                stream
                    .map(|weight| {
                        if weight % 40 == 0 {
                            thread::sleep(Duration::from_micros(weight));
                        }
                        weight
                    })
                    .for_each(|weight| {
                        sum += weight;
                        in_flight.fetch_sub(weight, Ordering::SeqCst);
                    });
                assert_eq!(sum, weights.sum::<u64>());
            }
        }
    });
}

#[test]
fn weightless_items_and_items_above_the_limit_pass() {
    within(|| {
        for weight in [0, u64::MAX] {
            let stream =
                Source::new(0..100u64).window_bytes(10, |_| weight).into_stream().workers(3).window(4);
            assert_eq!(stream.map(|n| n + 1).fold(0, |sum, n| sum + n), 5_050);
        }
    });
}
