//! Streams that are stopped from outside, and what their ends return (C6, C7, C9).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use crate::contract_support::watchdog::{Gate, LIMIT, comes_true, message, others_rest, panic_of, within};
use anabranch::{CancelToken, Monitor, Pool, Source, Stream, Watch};
use futures::executor::block_on_stream;

/// Counts the calls that begin after a token has cancelled their run. Each call takes long.
#[derive(Clone)]
struct Late {
    token: CancelToken,
    is_cancelled: Arc<AtomicBool>,
    calls: Arc<AtomicUsize>,
}

impl Late {
    fn new() -> Self {
        Self { token: CancelToken::new(), is_cancelled: Arc::default(), calls: Arc::default() }
    }

    /// Cancels at item 100.
    fn call(&self, n: u64) -> u64 {
        if self.is_cancelled.load(Ordering::SeqCst) {
            self.calls.fetch_add(1, Ordering::SeqCst);
            sleep(Duration::from_millis(1));
        } else if n == 100 {
            self.token.cancel();
            self.is_cancelled.store(true, Ordering::SeqCst);
        }
        n
    }
}

/// Runs streams that cancel themselves, with several numbers of workers.
macro_rules! each_stops {
    ($workers:ident, $late:ident: $($stream:ident => $run:expr;)*) => {$({
        let $late = &Late::new();
        let $stream = Stream::from_iter(0..100_000u64).workers($workers).burst(64).cancel_by(&$late.token);
        $run.for_each(drop);
        // Each thread may have been just before a call.
        let calls = $late.calls.load(Ordering::SeqCst);
        assert!(calls <= $workers, "{calls} calls with {} workers of {}", $workers, stringify!($run));
    })*};
}

#[test]
fn no_call_begins_once_a_run_is_cancelled() {
    within(|| {
        for workers in 1..4 {
            each_stops! { workers, late:
                stream => stream.map(|n| late.call(n));
                stream => stream.map(|n| n).serial_map(|n| late.call(n));
                stream => stream.serial_flat_map(|n| [n, n]).map(|n| late.call(n));
                stream => stream.unordered().map(|n| late.call(n));
                stream => stream.serial_flat_map(|n| (0..200).map(move |m| late.call(n + m)));
            }
            let late = Late::new();
            Stream::from_iter(0..100_000u64).workers(workers).cancel_by(&late.token).for_each(|n| {
                late.call(n);
            });
            assert!(late.calls.load(Ordering::SeqCst) <= 1);
        }
    });
}

#[test]
fn results_that_wait_for_an_iterator_come_out_after_a_cancel() {
    within(|| {
        let is_last = |token: &CancelToken| {
            let token = token.clone();
            move |n: u64| {
                if n == 9 {
                    token.cancel();
                }
                n
            }
        };
        // Nobody takes a result before the run has ended.
        let compare = |token: &CancelToken, what: &str, rest: &mut dyn Iterator<Item = u64>| {
            let stopped = token.wait(LIMIT / 2).expect("a cancelled run ends");
            assert!(stopped.delivered <= 10, "{what}: {stopped:?}");
            assert_eq!(rest.collect::<Vec<_>>(), Vec::from_iter(0..stopped.delivered), "{what}");
        };
        for workers in [1, 2, 3] {
            let numbers =
                |token: &CancelToken| Stream::from_iter(0u64..).workers(workers).window(64).cancel_by(token);
            let token = CancelToken::new();
            let mut items = numbers(&token).map(is_last(&token)).into_iter();
            compare(&token, "an iterator", &mut items);
            let token = CancelToken::new();
            let items = numbers(&token).map(is_last(&token)).into_async();
            compare(&token, "an asynchronous reader", &mut block_on_stream(items));
            let token = CancelToken::new();
            let numbers =
                Stream::from_async(futures::stream::iter(0u64..)).pool(Arc::new(Pool::new(workers)));
            let mut items = numbers.window(64).cancel_by(&token).map(is_last(&token)).into_iter();
            compare(&token, "a pool", &mut items);
        }
    });
}

#[test]
fn one_item_that_becomes_endlessly_many_can_be_cancelled() {
    within(|| {
        for workers in 1..3 {
            let token = CancelToken::new();
            let endless = Stream::from_iter([0])
                .serial_flat_map(|_| 0u64..)
                .inspect(|&n| {
                    if n == 10_000 {
                        token.cancel();
                    }
                })
                .workers(workers)
                .cancel_by(&token);
            endless.for_each(drop);
            let none = Stream::from_iter([0]).serial_flat_map(|_| 0u64..).filter(|&n| n < 1).workers(workers);
            let mut items = none.into_iter();
            assert_eq!(items.next(), Some(0));
            drop(items);
        }
    });
}

#[test]
fn a_token_says_the_same_of_a_run_whoever_executes_it() {
    within(|| {
        for workers in 1..3 {
            let token = CancelToken::new();
            let stream = Stream::from_iter(0..100_000u64).workers(workers).cancel_by(&token);
            let mut seen = 0;
            stream
                .inspect(|&n| {
                    if n == 500 {
                        token.drain();
                    }
                })
                .serial_flat_map(|n| [n, n])
                .for_each(|_| seen += 1);
            let stopped = token.stopped().unwrap();
            assert_eq!((stopped.delivered, stopped.dropped), (seen, 0), "{workers} workers");
        }
    });
}

#[test]
fn progress_is_told_once_more_at_every_end() {
    within(|| {
        for workers in 1..3 {
            let mut last = None;
            let stream = || Stream::from_iter(0..5_000u64).workers(workers);
            stream().watch(Watch::progress(|progress| last = Some(progress.items))).take(700).for_each(drop);
            assert_eq!(last.take(), Some(700));
            stream()
                .watch(Watch::progress(|progress| last = Some(progress.items)))
                .chunks(999)
                .for_each(drop);
            assert_eq!(last.take(), Some(5_000));
            let failing = stream().watch(Watch::progress(|progress| last = Some(progress.items)));
            panic_of(|| failing.for_each(|n| assert!(n < 30)));
            assert_eq!(last.take(), Some(30));
            let token = CancelToken::new();
            stream()
                .watch(Watch::progress(|progress| last = Some(progress.items)))
                .cancel_by(&token)
                .for_each(|n| {
                    if n == 40 {
                        token.cancel();
                    }
                });
            assert_eq!(last, Some(41));
        }
    });
}

#[test]
fn progress_is_told_in_time_though_each_item_takes_long() {
    within(|| {
        for workers in 1..3 {
            let mut calls = 0;
            let stream = Stream::from_iter(0..12).workers(workers).watch(Watch::progress(|_| calls += 1));
            stream.for_each(|_| sleep(Duration::from_millis(40)));
            assert!(calls > 2, "{calls} calls in half a second with {workers} workers");
        }
    });
}

#[test]
fn nothing_is_asked_of_the_source_if_nothing_is_taken() {
    within(|| {
        for workers in 1..3 {
            let stream =
                Stream::from_iter(std::iter::from_fn(|| -> Option<u32> { unreachable!("nobody wants any") }));
            assert_eq!(stream.map(|n| n + 1).workers(workers).take(0).count(), 0);
            let (_sender, stream) = Stream::<_>::channel(4);
            assert_eq!(stream.map(|n: u32| n + 1).workers(workers).take(0).count(), 0);
        }
    });
}

#[test]
fn of_several_failures_of_an_unordered_stream_the_first_in_time_is_returned() {
    within(|| {
        // A panic of a wait would not be returned, because it comes after the first failure. So `in_time` tells of it.
        let (failed, in_time, monitor) = (Gate::default(), Gate::default(), Monitor::new());
        let late_sink = Stream::from_iter(0..1_000u64)
            .workers(2)
            .watch(&monitor)
            .unordered()
            .try_map(|n| {
                if n == 8 {
                    failed.open();
                    return Err("stage");
                }
                Ok(n)
            })
            .try_for_each(|n| {
                if n == 0 {
                    failed.pass();
                    others_rest(&monitor);
                    in_time.open();
                    return Err("sink");
                }
                Ok(())
            });
        assert_eq!(late_sink, Err("stage"));
        assert!(in_time.is_open());
        let (failed, in_time) = (Gate::default(), Gate::default());
        let items = (0..9).map(Ok).chain(std::iter::from_fn(|| {
            failed.open();
            Some(Err("source"))
        }));
        let stream = Stream::try_from_iter(items).workers(2).burst(1).watch(&monitor).unordered();
        let late_stage = stream.try_map(|n| {
            if n == 8 {
                failed.pass();
                // The source has noted its failure when it rests. The worker that ran it has then left the run.
                let rests = || monitor.snapshots()[0].nodes[0].running == Some(false);
                assert!(comes_true(LIMIT / 2, rests), "{}", monitor.snapshots()[0]);
                in_time.open();
                return Err("stage");
            }
            Ok(n)
        });
        assert_eq!(late_stage.for_each(drop), Err("source"));
        assert!(in_time.is_open());
    });
}

#[test]
fn a_watchdog_that_panics_ends_the_run_with_its_panic() {
    within(|| {
        for workers in 1..3 {
            let (monitor, seen) = (Monitor::new(), Gate::default());
            let payload = panic_of(|| {
                Stream::from_iter(0..3)
                    .watch(&monitor)
                    .watch(Watch::stalls(Duration::from_millis(5), |_| {
                        seen.open();
                        panic!("mine")
                    }))
                    .workers(workers)
                    .for_each(|n| {
                        if n == 1 {
                            seen.pass();
                            assert_eq!(monitor.snapshots().len(), 1);
                        }
                    });
            });
            assert_eq!(message(&*payload), "mine");
        }
    });
}

#[test]
fn a_stall_is_seen_while_a_monitor_asks() {
    within(|| {
        let (monitor, seen) = (Monitor::new(), Gate::default());
        Stream::from_iter(0..2)
            .watch(&monitor)
            .watch(Watch::stalls(Duration::from_millis(20), |_| seen.open()))
            .workers(2)
            .for_each(|n| {
                let asks = || {
                    monitor.snapshots();
                    n == 0 || seen.is_open()
                };
                assert!(comes_true(LIMIT / 2, asks));
            });
    });
}

#[test]
fn a_title_may_have_zeros_in_it() {
    within(|| {
        let monitor = Monitor::new();
        Stream::from_iter(0..9).title("a\0b").watch(&monitor).workers(3).for_each(drop);
        assert!(monitor.snapshots().is_empty());
    });
}

#[test]
fn a_window_in_bytes_holds_for_those_that_wait_for_an_iterator_too() {
    within(|| {
        for limit in [1, 4, 16] {
            let live = Arc::new(AtomicUsize::new(0));
            let made = Arc::clone(&live);
            let items = Source::new((0..1_000u32).map(move |_| {
                made.fetch_add(1, Ordering::SeqCst);
                Arc::clone(&made)
            }));
            let items = items.window_bytes(limit, |_| 1).into_stream().workers(2).map(|item| item);
            let mut items = items.into_iter();
            assert!(comes_true(LIMIT / 2, || live.load(Ordering::SeqCst) as u64 >= limit));
            for taken in 0..100 {
                sleep(Duration::from_micros(100));
                assert!(live.load(Ordering::SeqCst) as u64 <= limit + taken);
                assert!(items.next().is_some());
            }
        }
    });
}

#[test]
fn one_worker_is_watched_too() {
    within(|| {
        let seen = Gate::default();
        let stream = Stream::from_iter(0..3)
            .watch(Watch::stalls(Duration::from_millis(5), |_| seen.open()))
            .workers(1);
        stream.for_each(|n| {
            if n == 1 {
                seen.pass();
            }
        });
    });
}

#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn helpers_that_come_later_have_processors_of_their_own() {
    within(|| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let mine = || {
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
            list.trim().to_owned()
        };
        let workers = anabranch::Workers::new(2);
        let seen = std::sync::Mutex::new(std::collections::BTreeMap::new());
        Stream::from_iter(0..2_000u64)
            .with_plan(|plan| plan.settings.pinned = true)
            .workers(&workers)
            .inspect(|&n| {
                workers.set((2 + n as usize / 100).min(processors + 1));
                sleep(Duration::from_micros(50));
            })
            .for_each(|_| {
                let name = std::thread::current().name().unwrap_or_default().to_owned();
                seen.lock().unwrap().insert(name, mine());
            });
        // There is one for each helper, in turn.
        let seen = seen.into_inner().unwrap();
        let helper = |number: usize| seen.get(&format!("anabranch-{number}"));
        let (first, last) = (helper(processors), helper(1));
        if let (Some(first), Some(last), true) = (first, last, processors > 1) {
            assert_ne!(first, last);
        }
    });
}
