//! How items are dealt to shards, and what shards do at once. The generator draws shards in any line: their states, failures
//! and drops are checked there.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::contract_support::watchdog::within;
use anabranch::{Shards, Stream};

#[test]
fn in_turn_is_by_index() {
    for workers in [1, 3] {
        let counted = Stream::from_iter(0..100usize).workers(workers).map_sharded(
            Shards::dealt(7),
            || 0,
            |count, n| {
                *count += 1;
                (n, *count)
            },
        );
        let expected = (0..100).map(|n| (n, n / 7 + 1)).collect::<Vec<_>>();
        assert_eq!(counted.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_function_may_choose_by_what_it_has_seen() {
    // Each shard gets three items before the next shard has its turn.
    let mut asked = 0;
    let choose = |_: &u32| {
        asked += 1;
        (asked - 1) / 3
    };
    let stream = Stream::from_iter(0..18u32).workers(2).window(4);
    let sums = stream.map_sharded(
        Shards::chosen(3, choose),
        || 0,
        |sum, n| {
            *sum += n;
            *sum
        },
    );
    let mut loops = Vec::new();
    let mut states = [0; 3];
    for n in 0..18 {
        states[n as usize / 3 % 3] += n;
        loops.push(states[n as usize / 3 % 3]);
    }
    assert_eq!(sums.collect::<Vec<_>>(), loops);
}

#[test]
fn shards_run_at_once() {
    within(|| {
        // All three must be inside before any of them continues.
        let inside = Barrier::new(3);
        let stream = Stream::from_iter(0..30usize).workers(3).window(12);
        let met = stream.map_sharded(
            Shards::dealt(3),
            || (),
            |(), n| {
                inside.wait();
                n
            },
        );
        assert_eq!(met.collect::<Vec<_>>(), (0..30).collect::<Vec<_>>());
    });
}

#[test]
fn one_shard_runs_one_item_at_a_time() {
    within(|| {
        let inside = AtomicUsize::new(0);
        let stream = Stream::from_iter(0..200u32).workers(4).window(32);
        let stream = stream.map_sharded(
            Shards::dealt(1),
            || (),
            |(), n| {
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                if n % 50 == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
                inside.fetch_sub(1, Ordering::SeqCst);
                n
            },
        );
        assert_eq!(stream.fold(0, |sum, n| sum + n), 19_900);
    });
}

#[test]
fn without_order_each_shard_still_keeps_its_own() {
    within(|| {
        let stream = Stream::from_iter(0..300usize).workers(3).window(16);
        let mut last = [None; 4];
        let stream = stream.map_sharded(
            Shards::by_key(4, |n: &usize| n % 4),
            || (),
            |(), n| {
                if n % 40 == 0 {
                    thread::sleep(Duration::from_micros(200));
                }
                n
            },
        );
        let mut seen = 0;
        stream.unordered().for_each(|n| {
            assert!(last[n % 4] < Some(n));
            last[n % 4] = Some(n);
            seen += 1;
        });
        assert_eq!(seen, 300);
    });
}

#[test]
#[should_panic(expected = "`Shards::dealt(0)`: a stage has 1 shard or more")]
fn no_shards_are_refused() {
    let _ = Shards::dealt(0);
}

#[test]
fn the_plan_says_how_items_are_dealt() {
    let plan = Stream::from_iter(0..3u32).workers(2).map_sharded(Shards::dealt(4), || (), |(), n| n).plan();
    let text = plan.to_string();
    assert!(text.contains("dealt in turn") && text.contains("state per replica"), "{text}");
}
