//! The corner cases in which pipelines of this kind hang or lose items (C1, C7, C9).

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use crate::contract_support::process;
use crate::contract_support::watchdog::{LIMIT, comes_true, hush, message, panic_of, within};
use anabranch::plan::Wait;
use anabranch::{
    CountWindows, Lap, Offload, Pool, Retry, SessionWindows, Shards, Source, Stream, TimeWindows, Workers,
};

/// The result of a pipeline with stages of every kind, as one number.
fn digest(items: u64, workers: usize, window: usize) -> u64 {
    let mut seen = 0;
    Stream::from_iter(0..items)
        .workers(workers)
        .window(window)
        .map(|n| n.wrapping_mul(3))
        .serial_map(|n| {
            seen += 1;
            n ^ seen
        })
        .filter(|n| n % 5 != 0)
        .flat_map(|n| [n, n + 1])
        .fold(0u64, |sum, n| sum.wrapping_mul(31).wrapping_add(n))
}

#[test]
fn one_worker_gives_what_many_give() {
    within(|| assert_eq!(digest(1_000, 1, 8), digest(1_000, 4, 8)));
}

#[test]
fn one_worker_spawns_no_thread() {
    within(|| {
        let here = thread::current().id();
        Stream::from_iter(0..100)
            .workers(1)
            .map(|_| thread::current().id())
            .for_each(|id| assert_eq!(id, here));
    });
}

#[test]
fn a_window_of_one_passes_items_one_by_one() {
    within(|| {
        let reference = digest(500, 1, 1);
        for workers in 2..6 {
            assert_eq!(digest(500, workers, 1), reference, "{workers} workers");
        }
    });
}

#[test]
fn more_workers_than_cores_than_items_and_than_the_window() {
    within(|| {
        let reference = digest(300, 1, 1);
        for (workers, window) in [(16, 1), (33, 2), (64, 64), (64, 1_000)] {
            assert_eq!(digest(300, workers, window), reference, "{workers} workers, window {window}");
        }
        assert_eq!(digest(3, 40, 64), digest(3, 1, 1));
    });
}

#[test]
fn the_calling_thread_is_one_of_the_workers() {
    within(|| {
        let (threads, caller) = (Mutex::new(HashSet::new()), thread::current().id());
        Stream::from_iter(0..64).workers(4).for_each(|_: u32| {});
        Stream::from_iter(0..64)
            .workers(4)
            .window(64)
            .map(|_| thread::sleep(Duration::from_millis(1)))
            .for_each(|()| {
                threads.lock().unwrap().insert(thread::current().id());
            });
        Stream::from_iter(0..64)
            .workers(4)
            .map(|_| {
                threads.lock().unwrap().insert(thread::current().id());
                // No thread continues before the caller has got an item.
                assert!(comes_true(LIMIT / 2, || threads.lock().unwrap().contains(&caller)));
            })
            .count();
        assert!(threads.lock().unwrap().len() <= 7, "the caller and three helpers a run");
    });
}

#[test]
fn an_empty_source_gives_nothing_at_once() {
    within(|| {
        for workers in [1, 2, 9] {
            for window in [1, 64] {
                let empty = || Stream::from_iter(std::iter::empty::<u32>()).workers(workers).window(window);
                assert_eq!(empty().count(), 0);
                assert_eq!(empty().map(|n| n + 1).serial_map(|n| n).map(|n| n).count(), 0);
                assert_eq!(empty().flat_map(|n| vec![n; 3]).chunks(4).count(), 0);
                assert_eq!(empty().find(|_| true), None);
                assert!(empty().all(|_| false));
                assert!(!empty().any(|_| true));
                assert_eq!(empty().fold(7, |a, b| a + b), 7);
                assert_eq!(empty().try_for_each(|_| Err("nobody calls this")), Ok(()));
            }
        }
    });
}

#[test]
fn a_source_of_one_item_gives_it() {
    within(|| {
        for workers in 1..5 {
            let one = Stream::from_iter([41]).workers(workers).map(|n| n + 1).serial_map(|n| n).chunks(3);
            assert_eq!(one.collect::<Vec<_>>(), [vec![42]]);
        }
    });
}

#[test]
fn a_flat_map_that_gives_nothing_gives_nothing() {
    within(|| {
        for workers in 1..5 {
            let none = Stream::from_iter(0..1_000).workers(workers).window(3);
            assert_eq!(none.flat_map(|_| Vec::<u8>::new()).serial_map(|n| n).map(|n| n).count(), 0);
        }
    });
}

/// A number that is refused panics with a message that names the call and says what is taken, and does not hang.
fn refuses(call: &str, ask: impl FnOnce()) {
    let text = message(&*panic_of(ask));
    assert!(text.contains(&format!("`{call}")), "{call}: {text}");
    assert!(["or more", "or longer"].iter().any(|limit| text.contains(limit)), "{call}: {text}");
}

#[test]
fn numbers_that_make_no_sense_are_refused_by_the_name_of_the_call() {
    within(|| {
        let stream = || Stream::from_iter(0..10i64);
        let time = |n: &i64| *n;
        refuses("workers(0)", || _ = stream().workers(0));
        refuses("window(0)", || _ = stream().window(0));
        refuses("window_bytes(0", || _ = Source::new(0..10i64).window_bytes(0, |_| 1));
        refuses("burst(0)", || _ = stream().burst(0));
        refuses("replicas(0)", || _ = stream().replicas(0).map(|n| n));
        refuses("chunks(0)", || _ = stream().chunks(0));
        refuses("ready_chunks(0)", || _ = stream().ready_chunks(0));
        refuses("chunks_timeout(0", || _ = stream().chunks_timeout(0, Duration::ZERO));
        refuses("step_by(0)", || _ = stream().step_by(0));
        refuses("throttle(0", || _ = stream().throttle(0, Duration::ZERO));
        refuses("map_async(0", || _ = stream().map_async(0, std::future::ready));
        refuses("filter_map_async(0", || _ = stream().filter_map_async(0, async |n| Some(n)));
        refuses("farm", || _ = stream().farm(Vec::<fn(i64) -> i64>::new()));
        refuses("feedback", || _ = stream().feedback(0, |laps| laps.map(Lap::<i64, i64>::Done)));
        refuses("Shards::dealt(0", || _ = Shards::dealt(0));
        refuses("Shards::by_key(0", || _ = Shards::by_key(0, |n: &i64| *n));
        refuses("Shards::chosen(0", || _ = Shards::chosen(0, |_: &i64| 0));
        refuses("CountWindows", || _ = CountWindows::tumbling(0));
        refuses("CountWindows::sliding(2, 0)", || _ = CountWindows::sliding(2, 0));
        refuses("TimeWindows", || _ = TimeWindows::tumbling(0, time));
        refuses("TimeWindows::sliding(2, -1", || _ = TimeWindows::sliding(2, -1, time));
        refuses("lateness(-3)", || _ = TimeWindows::tumbling(1, time).lateness(-3));
        refuses("SessionWindows::new(0", || _ = SessionWindows::new(0, time));
        refuses("lateness(-3)", || _ = SessionWindows::new(1, time).lateness(-3));
        refuses("Offload::start(0", || _ = Offload::start(0, 1, |n: u8| n));
        refuses("Offload::start(1, 0", || _ = Offload::start(1, 0, |n: u8| n));
        refuses("Offload::through(0", || _ = Offload::<u8, u8>::through(0, |tasks| tasks));
        refuses("Pool::new(0)", || _ = Pool::new(0));
        refuses("Pool::with_name(0, \"own\")", || _ = Pool::with_name(0, "own"));
        refuses("Workers::new(0)", || _ = Workers::new(0));
        refuses("Workers::set(0)", || Workers::new(1).set(0));
        refuses("Retry::new(0)", || _ = Retry::new(0));
    });
}

#[test]
fn zero_is_taken_where_it_makes_sense() {
    within(|| {
        for workers in 1..4 {
            let stream = || Stream::from_iter(0..10).workers(workers).map(|n| n);
            assert_eq!(stream().take(0).count(), 0);
            assert_eq!(stream().zip(0..0).count(), 0);
            assert_eq!(stream().take_while(|_| false).map(|n| n).count(), 0);
        }
    });
}

#[test]
fn replicate_bounds_the_calls_at_once() {
    within(|| {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let count = Stream::from_iter(0..200)
            .workers(6)
            .replicas(2)
            .map(|n| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(Duration::from_micros(50));
                now.fetch_sub(1, Ordering::SeqCst);
                n
            })
            .count();
        assert_eq!(count, 200);
        assert!(most.into_inner() <= 2);
    });
}

#[test]
fn replicas_of_one_are_one_at_a_time_and_finish() {
    within(|| {
        for window in [1, 2, 16] {
            let stream = Stream::from_iter(0..500).workers(4).window(window);
            let stream = stream.replicas(1).map(|n| n + 1).serial_map(|n| n).replicas(1).map(|n| n * 2);
            assert_eq!(stream.fold(0, |a, n| a + n), 250_500);
        }
    });
}

/// Adds up a range by halves. Each half is a stream inside a stage of the stream above it.
fn sum_by_recursion(range: std::ops::Range<u64>, workers: usize) -> u64 {
    if range.end - range.start <= 2 {
        return range.sum();
    }
    let middle = range.start + (range.end - range.start) / 2;
    Stream::from_iter([range.start..middle, middle..range.end])
        .workers(workers)
        .window(1)
        .map(|half| sum_by_recursion(half, workers))
        .fold(0, |a, b| a + b)
}

#[test]
fn a_stage_may_run_a_stream_of_its_own_kind() {
    within(|| {
        for workers in 1..4 {
            assert_eq!(sum_by_recursion(0..64, workers), 2_016);
        }
    });
}

#[test]
fn pipelines_nest_three_deep() {
    within(|| {
        let innermost =
            |n: u64| Stream::from_iter(0..n).workers(2).window(2).map(|k| k + 1).fold(0, |a, b| a + b);
        let inner = |n: u64| {
            Stream::from_iter(0..n)
                .workers(2)
                .window(1)
                .map(innermost)
                .serial_map(|k| k)
                .fold(0, |a, b| a + b)
        };
        let outer = Stream::from_iter(0..16).workers(3).window(2).map(inner).collect::<Vec<_>>();
        let sum = |n: u64| (0..n).map(|k| k * (k + 1) / 2).sum::<u64>();
        assert_eq!(outer, (0..16).map(sum).collect::<Vec<_>>());
    });
}

#[test]
fn sources_serial_stages_and_sinks_may_run_streams() {
    within(|| {
        let small = |n: u64| Stream::from_iter(0..n).workers(2).map(|k| k).count() as u64;
        let mut sum = 0;
        let mut left = 20;
        Stream::from_iter(std::iter::from_fn(|| {
            left -= 1;
            (left > 0).then(|| small(left))
        }))
        .workers(3)
        .window(2)
        .serial_map(small)
        .for_each(|n| sum += small(n));
        assert_eq!(sum, 190);
    });
}

#[test]
fn a_failure_of_an_inner_pipeline_reaches_the_outer_caller() {
    within(|| {
        let result = Stream::from_iter(0..50u32)
            .workers(3)
            .window(4)
            .try_map(|n| {
                let inner =
                    Stream::from_iter(0..n).workers(2).try_map(|k| if k == 30 { Err((n, k)) } else { Ok(k) });
                inner.fold(0, |a, b| a + b)
            })
            .collect::<Vec<_>>();
        assert_eq!(result, Err((31, 30)));
    });
}

#[test]
fn many_pipelines_at_once_finish() {
    within(|| {
        let reference = digest(2_000, 1, 1);
        thread::scope(|scope| {
            for window in [1, 2, 7, 64] {
                scope.spawn(move || {
                    for workers in 2..5 {
                        assert_eq!(digest(2_000, workers, window), reference);
                    }
                });
            }
        });
    });
}

#[test]
fn stages_that_wait_for_each_other_meet() {
    within(|| {
        // Each item of a pair waits for the other. The first two claims hold one item each.
        for _ in 0..50 {
            let barrier = Barrier::new(2);
            Stream::from_iter(0..2)
                .workers(2)
                .map(|n| {
                    barrier.wait();
                    n
                })
                .for_each(|_| {});
        }
    });
}

#[test]
fn a_sink_that_waits_for_the_next_item_to_be_worked_on_gets_it() {
    within(|| {
        // The sink holds item 0 until item 1 has been processed, which another worker must do.
        for _ in 0..50 {
            let worked = AtomicUsize::new(0);
            Stream::from_iter(0..2)
                .workers(2)
                .map(|n| {
                    worked.fetch_add(1, Ordering::SeqCst);
                    n
                })
                .for_each(|n| {
                    if n == 0 {
                        let both = || worked.load(Ordering::SeqCst) == 2;
                        assert!(comes_true(LIMIT / 2, both), "nobody works on item 1");
                    }
                });
        }
    });
}

#[test]
fn dedicated_stages_finish_with_any_number_of_workers() {
    within(|| {
        for workers in 1..5 {
            for window in [1, 2, 64] {
                let stream = Source::new(0..500).dedicated().into_stream().workers(workers).window(window);
                let stream =
                    stream.map(|n| n + 1).dedicated().serial_map(|n| n).dedicated().serial_map(|n| n * 2);
                assert_eq!(stream.map(|n| n).fold(0, |a, b| a + b), 250_500, "{workers} workers");
            }
        }
    });
}

#[test]
fn a_dedicated_stage_that_fails_ends_the_run() {
    within(|| {
        for workers in 1..4 {
            let mut got = Vec::new();
            let result = Source::new(0..500)
                .dedicated()
                .into_stream()
                .workers(workers)
                .window(3)
                .map(|n| n)
                .dedicated()
                .try_serial_map(|n| if n == 9 { Err(n) } else { Ok(n) })
                .map(|n| n)
                .for_each(|n| got.push(n));
            assert_eq!(result, Err(9));
            assert_eq!(got, (0..9).collect::<Vec<_>>());
        }
    });
}

#[test]
fn workers_that_always_spin_give_the_same() {
    within(|| {
        for workers in 1..4 {
            let stream = Stream::from_iter(0..2_000u64)
                .workers(workers)
                .window(8)
                .with_plan(|plan| plan.settings.wait = Wait::Spin);
            assert_eq!(stream.map(|n| n * 2).serial_map(|n| n).fold(0, |a, n| a + n), 3_998_000);
        }
    });
}

#[test]
fn stages_borrow_from_the_callers_stack() {
    within(|| {
        let words = ["a", "bb", "ccc", "dddd"].map(String::from);
        let (extra, mut longest, mut order) = (1usize, "", Vec::new());
        let total = Stream::from_iter(&words)
            .workers(3)
            .map(|word| (word.as_str(), word.len() + extra))
            .serial_map(|(word, length)| {
                if word.len() > longest.len() {
                    longest = word;
                }
                order.push(word);
                length
            })
            .fold(0, |a, b| a + b);
        assert_eq!((total, longest, order), (14, "dddd", vec!["a", "bb", "ccc", "dddd"]));
    });
}

#[test]
fn no_thread_outlives_the_call() {
    within(|| {
        for round in 0..20 {
            let title = format!("gone{round}");
            let count = Stream::from_iter(0..100).title(&title).workers(5).map(|n| n).take(50).count();
            assert_eq!(count, 50);
            // The system may need a moment until a thread that has ended is gone.
            let gone = || process::threads_named(&format!("{title}-")) == 0;
            assert!(comes_true(LIMIT / 2, gone));
        }
    });
}

#[test]
fn a_run_that_gets_no_helper_opens_its_items() {
    within(|| {
        let pool = Pool::new(2);
        // There are two callers on a pool of two, so the inner run gets no helper.
        let sum = |n: u64| {
            let inner = Stream::from_iter(0..n).pool(&pool).window(4).serial_flat_map(|m| 0..m);
            inner.map(|m| m + 1).serial_flat_map(|m| [m, m]).fold(0, |sum, m| sum + m)
        };
        let mut sums = Vec::new();
        Stream::from_iter(0..6).pool(&pool).map(|n| n).for_each(|n| sums.push(sum(n)));
        assert_eq!(sums, [0, 0, 2, 8, 20, 40]);
    });
}

/// The calls that take all items of a stream, and so cannot be in a branch or a loop.
type Whole = fn(Stream<'static, u64>) -> Stream<'static, u64>;

fn whole() -> Vec<(&'static str, Whole)> {
    /// A stream that a program might go on with.
    fn other<T>(_: T) -> Stream<'static, u64> {
        Stream::from_iter([])
    }
    vec![
        ("count", |line| other(line.count())),
        ("sum", |line| other(line.sum::<u64>())),
        ("min", |line| other(line.min())),
        ("max", |line| other(line.max())),
        ("fold", |line| other(line.fold(0, |sum, n| sum + n))),
        ("try_fold", |line| other(line.try_fold(0u64, |sum, n| sum.checked_add(n).ok_or(())))),
        ("reduce", |line| other(line.reduce(|a, b| a + b))),
        ("for_each", |line| {
            line.for_each(drop);
            other(())
        }),
        ("try_for_each", |line| other(line.try_for_each(|_| Err(())))),
        ("collect", |line| other(line.collect::<Vec<_>>())),
        ("find", |line| other(line.find(|_| true))),
        ("any", |line| other(line.any(|_| true))),
        ("all", |line| other(line.all(|_| true))),
        ("with_iter", |line| other(line.with_iter(|items| items.next()))),
        ("into_iter", |line| Stream::from_iter(line)),
        ("into_iter", |line| other(line.into_iter())),
        ("into_async", |line| Stream::from_async(line.into_async())),
        ("plan", |line| other(line.plan())),
        ("explain", |line| other(line.explain())),
        ("select_all", |line| Stream::select_all([line, Stream::from_iter([])])),
        ("chunks_timeout", |line| line.chunks_timeout(2, Duration::MAX).map(|chunk| chunk[0])),
        // These give their items new places.
        ("map_async", |line| line.map_async(2, |n| async move { n })),
        ("filter_map_async", |line| line.filter_map_async(2, |n| async move { Some(n) })),
        ("map_dependent", |line| other(line.map_dependent(2, |_, _| None, |n, _| n))),
        ("chain", |line| line.chain([7])),
        ("interleave", |line| line.interleave([7])),
        ("spread", |line| line.spread()),
        ("feedback", |line| line.feedback(2, |line| line.map(Lap::<u64, u64>::Done))),
        ("chunk_by", |line| line.chunk_by(|n| n % 2).map(|chunk| chunk.0)),
    ]
}

#[test]
fn what_takes_a_whole_stream_is_refused_in_a_branch_and_in_a_loop_by_its_name() {
    hush();
    for (name, call) in whole() {
        let in_branch = || {
            drop(Stream::from_iter(0..4u64).broadcast().branch(|line| line).branch(call).zip::<(u64, u64)>())
        };
        let in_loop =
            || drop(Stream::from_iter(0..4u64).feedback(2, |line| call(line).map(Lap::<u64, u64>::Done)));
        for (place, payload) in [("branch", panic_of(in_branch)), ("feedback", panic_of(in_loop))] {
            let text = message(&*payload).to_owned();
            let names =
                text.starts_with(&format!("`{name}")) && (text.contains(place) || text.contains("join"));
            assert!(names, "{name} in a {place}: {text}");
        }
    }
}
