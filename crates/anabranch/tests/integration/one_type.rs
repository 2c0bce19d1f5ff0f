//! A stream is a value: named, returned and put side by side, it gives the same (C1, C2).

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::contract_support::watchdog::{Gate, message, panic_of, within};
use anabranch::plan::EdgeKind;
use anabranch::{CancelToken, InTurn, Pool, Shards, Source, Stream, TryStream};

#[derive(Debug, PartialEq)]
struct Record(usize);

fn open(path: &Path) -> impl Iterator<Item = io::Result<String>> + Send + use<> {
    let name = path.display().to_string();
    (0..3).map(move |n| if n < 2 { Ok(format!("{name}{n}")) } else { Err(io::Error::other(name.clone())) })
}

fn parse(line: String) -> Record {
    Record(line.len())
}

fn lines(path: &Path) -> TryStream<'static, Record, io::Error> {
    Stream::try_from_iter(open(path)).map(parse)
}

#[derive(Debug)]
struct MyError(String);

impl From<io::Error> for MyError {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

#[test]
fn the_lines_of_a_newcomer_compile_as_they_are_written() {
    let mut seen = Vec::new();
    let result = lines(Path::new("abc")).for_each(|record| seen.push(record));
    assert_eq!(result.unwrap_err().to_string(), "abc");
    assert_eq!(seen, [Record(4), Record(4)]);

    for deep in [false, true] {
        let (s, f) = (Stream::from_iter(1..=3u64), |n| n * n);
        let numbers: Stream<u64> = if deep { s.map(f) } else { s };
        assert_eq!(numbers.sum::<u64>(), if deep { 14 } else { 6 });
    }

    let (items, cost) = ([1u64, 2, 3], |item: &u64| item * 10);
    let total: u64 = Stream::from_slice(&items).map(cost).sum();
    assert_eq!(total, 60);

    let store = |Record(length)| if length < 4 { Ok(()) } else { Err(MyError("long".into())) };
    let done = lines(Path::new("abc")).map_err(MyError::from).try_for_each(store);
    assert_eq!(done.unwrap_err().0, "long");
    let done = lines(Path::new("xy")).map_err(MyError::from).try_for_each(store);
    assert_eq!(done.unwrap_err().0, "xy");
}

#[test]
fn boxed_streams_stand_in_fields_and_vectors_and_go_on_with_any_method() {
    struct Job<'a> {
        numbers: Stream<'a, u64>,
    }
    within(|| {
        let factor = 3;
        let mut jobs = Vec::new();
        for kind in 0..6 {
            let numbers = Stream::from_iter(0..100u64).workers(1 + kind % 3);
            let numbers: Stream<'_, u64> = match kind {
                0 => numbers,
                1 => numbers.map(|n| n * factor),
                2 => numbers.serial_map(|n| n + 1).filter(|n| n % 2 == 0),
                3 => numbers.flat_map(|n| [n, n]),
                4 => numbers.map_sharded(
                    Shards::dealt(2),
                    || 0,
                    |sum, n| {
                        *sum += n;
                        *sum
                    },
                ),
                _ => numbers.unordered().map(|n| n),
            };
            jobs.push(Job { numbers });
        }
        for (kind, job) in jobs.into_iter().enumerate() {
            let expected: Vec<u64> = match kind {
                0 | 5 => (0..100).collect(),
                1 => (0..100).map(|n| 3 * n).collect(),
                2 => (1..=100).filter(|n| n % 2 == 0).collect(),
                3 => (0..100).flat_map(|n| [n, n]).collect(),
                _ => {
                    let mut sums = [0; 2];
                    (0..100)
                        .map(|n| {
                            sums[n as usize % 2] += n;
                            sums[n as usize % 2]
                        })
                        .collect()
                }
            };
            let numbers = job.numbers.map(|n| n + 1).flat_map(|n| [n, 0]);
            let numbers = numbers.try_map(|n| n.checked_sub(1).ok_or("zero"));
            let numbers = numbers.map(|n| n + 1).map_sharded(Shards::dealt(2), || (), |(), n| n);
            let mut found = Vec::new();
            assert_eq!(numbers.for_each(|n| found.push(n)), Err("zero"));
            // In a stream without order, the failure that was first in time counts.
            assert!(kind == 5 || found == [expected[0] + 1], "{kind}: {found:?}");
        }
    });
}

#[test]
fn a_box_does_not_cut_a_unit_of_the_plan_in_two() {
    let typed = Stream::from_iter(0..9u64).map(|n| n + 1).map(|n| n + 1).plan();
    let boxed = Stream::from_iter(0..9u64).map(|n| n + 1).map(|n| n + 1).plan();
    let units = |plan: &anabranch::Plan| plan.units().count();
    assert_eq!(units(&typed), units(&boxed));
    assert_eq!(typed.nodes.len(), boxed.nodes.len());
    assert!(boxed.edges.iter().any(|edge| edge.kind == EdgeKind::Call));
}

#[test]
fn a_stream_that_cannot_fail_stands_beside_one_that_can() {
    for checks in [false, true] {
        let numbers = Stream::from_iter([1u32, 2, 3]);
        let numbers: TryStream<u32, String> = if checks {
            numbers.try_map(|n| if n < 3 { Ok(n) } else { Err(format!("{n}")) })
        } else {
            numbers.into()
        };
        let sum = numbers.map(|n| n + 1).sum::<u32>();
        assert_eq!(sum, if checks { Err("3".to_owned()) } else { Ok(9) });
    }
}

#[test]
fn the_first_failure_is_the_same_on_both_sides_of_a_change_of_the_error() {
    within(|| {
        for workers in 1..4 {
            for (early, late) in [(5, 50), (50, 5), (20, 20)] {
                let stream = Stream::from_iter(0..100u64)
                    .workers(workers)
                    .try_map(|n| if n == early { Err(n) } else { Ok(n) });
                let stream = stream
                    .map_err(|n| format!("early {n}"))
                    .try_map(|n| if n == late { Err(format!("late {n}")) } else { Ok(n) });
                let mut seen = 0;
                let result = stream.for_each(|_| seen += 1);
                let first = early.min(late);
                // At one item, the stage that comes first in the loop fails first.
                let who = if early <= late { "early" } else { "late" };
                assert_eq!((result, seen), (Err(format!("{who} {first}")), first));
            }
        }
    });
}

#[test]
fn a_panic_behind_a_box_is_the_one_of_the_loop_and_its_state_is_made_anew() {
    within(|| {
        for workers in 1..4 {
            let made = AtomicUsize::new(0);
            let mut seen = 0;
            let payload = panic_of(|| {
                Stream::from_iter(0..1_000u64)
                    .workers(workers)
                    .burst(16)
                    .map(|n| if n == 700 { panic!("planted: {n}") } else { n })
                    .map_init(
                        || made.fetch_add(1, Ordering::Relaxed),
                        |_, n| if n == 300 { panic!("planted: {n}") } else { n },
                    )
                    .for_each(|_| seen += 1);
            });
            assert_eq!((message(&*payload), seen), ("planted: 300".to_owned(), 300));
            assert!(made.into_inner() >= 1);
        }
    });
}

#[test]
fn what_is_finished_before_a_box_does_not_wait_for_what_is_not() {
    within(|| {
        // Each stage of the second item waits until the first is through.
        let through = Gate::default();
        Stream::from_iter(0..2).workers(2).burst(2).map(|n| n).map(|n| n).for_each(|n| {
            if n == 0 {
                through.open();
            } else {
                through.pass();
            }
        });
    });
}

#[test]
fn boxed_streams_are_cancelled_weighed_and_run_on_pools_as_others_are() {
    within(|| {
        let (pool, token) = (Pool::new(2), CancelToken::new());
        let stream = Source::new(0u64..).window_bytes(64, |_| 8).into_stream().pool(&pool).cancel_by(&token);
        let stream = stream.map(|n| n).inspect(|&n| {
            if n == 100 {
                token.cancel()
            }
        });
        let count = stream.count();
        let stopped = token.stopped().unwrap();
        assert_eq!(stopped.delivered, count as u64);
        assert!(stopped.dropped <= 16);
    });
}

#[test]
fn what_the_type_of_a_stream_does_not_say_is_refused_at_the_call() {
    let numbers = || Stream::from_iter(0..9u32);
    let branches = || numbers().broadcast().branch(|numbers| numbers.named("twice").flat_map(|n| [n, n]));
    let zipped = panic_of(|| drop(branches().branch(|numbers| numbers).zip()));
    let expected = "`zip()` takes one result or none of each branch, but the branch that ends with `twice` may give several \
                    for an item: use `merge()`";
    assert_eq!(message(&*zipped), expected);
    let split = || numbers().split(InTurn::new()).branch(|numbers| numbers.flat_map(|n| [n, n]));
    assert!(message(&*panic_of(|| drop(split().join()))).starts_with("`join()` takes one result"));
    // The builder knows where several results may come from, not where they end.
    let single = numbers().broadcast().branch(|numbers| numbers.flat_map(|n| [n]).chunks(1)).branch(|n| n);
    assert!(message(&*panic_of(|| drop(single.zip()))).contains("`chunks`"));
    assert_eq!(branches().branch(|numbers| numbers).merge().count(), 27);
    assert_eq!(numbers().flat_map(|n| [n, n]).broadcast().branch(|n| n).branch(|n| n).zip().count(), 18);
}
