//! Each number that a user can set, at both ends of its range: the result is the loop's, or the call refuses the number.
//! Nothing hangs, wraps round or aborts.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use anabranch::{
    CancelToken, CountWindows, Lap, Offload, Pool, Recycler, Retry, SessionWindows, Shards, Source, Stream,
    TimeWindows, Watch, Workers,
};

use crate::contract_support::watchdog::{LIMIT, finishes_within, message};

const ITEMS: u64 = 10;

/// Both ends of the range of a number, also as a signed one.
const ENDS: [usize; 6] = [0, 1, 2, usize::MAX / 2 + 1, usize::MAX - 1, usize::MAX];

/// The setting refuses the number with a panic at the call, which names the number.
const REFUSED: Option<Vec<u64>> = None;

type Line = Stream<'static, u64>;
type Setting = (&'static str, fn(usize) -> Vec<u64>, fn(usize) -> Option<Vec<u64>>);

thread_local! {
    /// How many workers the streams of this thread have.
    static WORKERS: Cell<usize> = const { Cell::new(1) };
}

fn items() -> Line {
    // No `size_hint` and no block tells how many come.
    Stream::from_iter((0..ITEMS).filter(|_| true)).workers(WORKERS.get())
}

fn weighed(bytes: u64, weight: u64) -> Line {
    let source = Source::new((0..ITEMS).filter(|_| true)).window_bytes(bytes, move |_| weight);
    source.into_stream().workers(WORKERS.get())
}

fn squares(line: Line) -> Vec<u64> {
    line.map(|n| n * n).collect()
}

fn all() -> Vec<u64> {
    (0..ITEMS).collect()
}

fn squared(_: usize) -> Option<Vec<u64>> {
    Some((0..ITEMS).map(|n| n * n).collect())
}

fn squared_from_1(least: usize) -> Option<Vec<u64>> {
    if least == 0 { REFUSED } else { squared(least) }
}

/// The sums of chunks.
fn sums(size: usize) -> Option<Vec<u64>> {
    let sums = || all().chunks(size).map(|chunk| chunk.iter().sum()).collect();
    if size == 0 { REFUSED } else { Some(sums()) }
}

fn sum(items: Vec<u64>) -> u64 {
    items.iter().sum()
}

/// Whether a number is below 0 as a length of time.
fn is_negative(length: usize) -> bool {
    (length as i64) < 0
}

fn settings() -> Vec<Setting> {
    vec![
        ("workers", |n| squares(items().workers(n)), squared_from_1),
        ("workers, by a handle", |n| squares(items().workers(&Workers::new(n))), squared_from_1),
        (
            "Workers::set",
            |n| {
                let workers = Workers::new(2);
                workers.set(n);
                squares(items().workers(&workers))
            },
            squared_from_1,
        ),
        ("Pool::new", |n| squares(items().pool(Arc::new(Pool::new(n)))), squared_from_1),
        ("window", |n| squares(items().window(n)), squared_from_1),
        ("window_bytes", |n| squares(weighed(n as u64, u64::MAX)), squared_from_1),
        ("window_bytes of nothing", |n| squares(weighed(n as u64, 0)), squared_from_1),
        ("burst", |n| squares(items().burst(n)), squared_from_1),
        ("replicas", |n| items().replicas(n).map(|n| n * n).collect(), squared_from_1),
        ("throttle", |n| squares(items().throttle(n, Duration::from_nanos(1))), squared_from_1),
        ("take", |n| items().take(n).collect(), |n| Some(all().into_iter().take(n).collect())),
        ("skip", |n| items().skip(n).collect(), |n| Some(all().into_iter().skip(n).collect())),
        (
            "step_by",
            |n| items().step_by(n).collect(),
            |n| match n {
                0 => REFUSED,
                n => Some(all().into_iter().step_by(n).collect()),
            },
        ),
        ("chunks", |n| items().chunks(n).map(sum).collect(), sums),
        (
            "ready_chunks",
            |n| items().ready_chunks(n).flatten().collect(),
            |n| match n {
                0 => REFUSED,
                _ => Some(all()),
            },
        ),
        ("chunks_timeout", |n| items().chunks_timeout(n, Duration::MAX).map(sum).collect(), sums),
        (
            "sorted_within_by_key",
            |n| items().map(|n| ITEMS - 1 - n).sorted_within_by_key(n, |n| *n).collect(),
            |n| match n {
                0 => Some(all().into_iter().rev().collect()),
                1 => Some(vec![8, 7, 6, 5, 4, 3, 2, 1, 0, 9]),
                2 => Some(vec![7, 6, 5, 4, 3, 2, 1, 0, 8, 9]),
                _ => Some(all()),
            },
        ),
        (
            "feedback",
            |n| {
                let lap = |n: u64| if n < 5 { Lap::Again(n + 5) } else { Lap::Done(n) };
                let mut laps: Vec<u64> = items().feedback(n, |laps| laps.map(lap)).collect();
                laps.sort_unstable();
                laps
            },
            |n| match n {
                0 => REFUSED,
                _ => Some(vec![5, 5, 6, 6, 7, 7, 8, 8, 9, 9]),
            },
        ),
        (
            "map_dependent",
            |n| {
                let needs = |number: u64, _: &u64| (number % 2 == 1).then(|| number - 1);
                let add = |n: u64, before: &[Arc<u64>]| n + before.first().map_or(0, |before| **before);
                let added = items().map_dependent(n, needs, add).map(|sum| *sum).collect::<Vec<_>>();
                added.unwrap_or_default()
            },
            |n| match n {
                // The first odd item is out of reach.
                0 => Some(Vec::new()),
                _ => Some(vec![0, 1, 2, 5, 4, 9, 6, 13, 8, 17]),
            },
        ),
        (
            "CountWindows::tumbling",
            |n| items().windows(CountWindows::tumbling(n)).map(|window| sum(window.value)).collect(),
            sums,
        ),
        (
            "CountWindows::sliding, the step",
            |n| items().windows(CountWindows::sliding(2, n)).map(|window| sum(window.value)).collect(),
            |n| match n {
                0 => REFUSED,
                1 => Some((0..9).map(|n| 2 * n + 1).collect()),
                2 => sums(2),
                _ => Some(vec![1]),
            },
        ),
        (
            "CountWindows::sliding, the size",
            |n| items().windows(CountWindows::sliding(n, 5)).map(|window| sum(window.value)).collect(),
            |n| match n {
                0 => REFUSED,
                1 => Some(vec![0, 5]),
                2 => Some(vec![1, 11]),
                _ => Some(vec![45]),
            },
        ),
        (
            "aggregate_windows_by_key",
            |n| {
                let windows =
                    items().aggregate_windows_by_key(|_| 0, CountWindows::tumbling(n), |n| n, |a, b| a + b);
                windows.map(|window| window.value).collect()
            },
            sums,
        ),
        (
            "TimeWindows::tumbling",
            |n| {
                let windows = TimeWindows::tumbling(n as i64, |n: &u64| *n as i64);
                items().windows(windows).map(|window| sum(window.value)).collect()
            },
            |n| if is_negative(n) { REFUSED } else { sums(n) },
        ),
        (
            "TimeWindows::lateness",
            |n| {
                let windows = TimeWindows::tumbling(5, |n: &u64| *n as i64).lateness(n as i64);
                items().windows(windows).map(|window| sum(window.value)).collect()
            },
            |n| if is_negative(n) { REFUSED } else { Some(vec![10, 35]) },
        ),
        (
            "SessionWindows::new",
            |n| {
                let sessions = SessionWindows::new(n as i64, |n: &u64| *n as i64);
                items().windows(sessions).map(|window| sum(window.value)).collect()
            },
            |n| match n {
                0 => REFUSED,
                1 => Some(all()),
                n if is_negative(n) => REFUSED,
                _ => Some(vec![45]),
            },
        ),
        (
            "SessionWindows::lateness",
            |n| {
                let sessions = SessionWindows::new(1, |n: &u64| *n as i64).lateness(n as i64);
                items().windows(sessions).map(|window| sum(window.value)).collect()
            },
            |n| if is_negative(n) { REFUSED } else { Some(all()) },
        ),
        (
            // Each shard has a state and a queue, so their number is one of this machine's.
            "Shards::dealt",
            |n| items().map_sharded(Shards::dealt(n.min(1 << 12)), || (), |(), n| n * n).collect(),
            squared_from_1,
        ),
        (
            "Shards::chosen",
            |n| {
                let shards = Shards::chosen(n.min(1 << 16), |n: &u64| *n as usize);
                items().map_sharded(shards, || (), |(), n| n * n).collect()
            },
            squared_from_1,
        ),
        (
            "channel",
            |n| {
                let (sender, line) = Stream::channel(n);
                let posts = std::thread::spawn(move || (0..ITEMS).for_each(|n| sender.send(n).unwrap()));
                let results = squares(line.workers(2));
                posts.join().unwrap();
                results
            },
            squared,
        ),
        (
            "Offload::start",
            |n| {
                let mut offload = Offload::start(2, n, |n: u64| n * n);
                let mut results = Vec::new();
                for n in 0..ITEMS {
                    offload.offload(n);
                    results.extend(offload.get());
                }
                offload.close();
                results.extend(std::iter::from_fn(|| offload.get()));
                results
            },
            squared_from_1,
        ),
        (
            "Retry::new",
            |n| {
                let retry = Retry::new(u32::try_from(n).unwrap_or(u32::MAX));
                items().map(move |n| retry.call(|| Ok::<_, ()>(n * n)).unwrap()).collect()
            },
            squared_from_1,
        ),
        (
            "Recycler::new",
            |n| {
                let recycler = Recycler::new(n, Vec::<u64>::new);
                let take = move |n: u64| {
                    let mut buffer = recycler.take();
                    buffer.push(n);
                    buffer
                };
                items().map(take).map(|mut buffer| buffer.pop().map_or(0, |n| n * n)).collect()
            },
            squared,
        ),
        (
            "cost",
            |n| {
                items()
                    .cost(Duration::from_secs(n as u64))
                    .map(|n| n * n)
                    .passes(Default::default())
                    .collect()
            },
            squared,
        ),
        (
            "Watch::stalls",
            |n| {
                let after = Duration::from_nanos(n as u64).max(Duration::from_secs(n as u64));
                squares(items().watch(Watch::stalls(after, |_| {})))
            },
            squared,
        ),
        (
            "CancelToken::wait",
            |n| {
                let token = CancelToken::new();
                token.drain();
                let results = squares(items().cancel_by(&token));
                assert!(token.wait(Duration::from_secs(n as u64)).is_some());
                results
            },
            |_| Some(Vec::new()),
        ),
    ]
}

#[test]
fn each_number_at_both_ends_of_its_range_is_taken_or_refused() {
    crate::contract_support::watchdog::hush();
    let mut faults = Vec::new();
    for (name, run, expected) in settings() {
        for (limit, workers) in ENDS.into_iter().flat_map(|limit| [(limit, 1), (limit, 3)]) {
            let outcome = finishes_within(LIMIT / 4, move || {
                WORKERS.set(workers);
                catch_unwind(AssertUnwindSafe(|| run(limit)))
            });
            let is_named = |text: &str| {
                text.contains(&format!("not {limit}")) || text.contains(&(limit as i64).to_string())
            };
            let what = match (outcome, expected(limit)) {
                (None, _) => "hangs".to_owned(),
                (Some(Ok(found)), Some(expected)) if found == expected => continue,
                (Some(Err(payload)), None) if is_named(&message(&*payload)) => continue,
                (Some(Ok(found)), expected) => format!("gives {found:?} and not {expected:?}"),
                (Some(Err(payload)), _) => format!("panics: {}", message(&*payload)),
            };
            faults.push(format!("{name}, {limit}, {workers} workers: {what}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
