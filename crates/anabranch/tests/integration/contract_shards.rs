//! Stages with shards keep the contract too: the state of each shard meets its items in their order,
//! whichever thread runs them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use crate::contract_support::random;
use crate::contract_support::watchdog::{hush, within};
use anabranch::{Shards, Stream};
use proptest::prelude::*;

/// The plain loop: a running digest for each key, in the order of the items.
fn digests(items: &[(u8, u64)]) -> Vec<u64> {
    let mut states = HashMap::new();
    items.iter().map(|&(key, value)| digest(states.entry(key).or_default(), value)).collect()
}

fn digest(state: &mut u64, value: u64) -> u64 {
    *state = state.rotate_left(7).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ value;
    *state
}

/// The states of a shard, which may hold several keys.
fn by_key(states: &mut HashMap<u8, u64>, (key, value): (u8, u64)) -> u64 {
    if value.is_multiple_of(61) {
        thread::sleep(Duration::from_micros(value % 300));
    }
    digest(states.entry(key).or_default(), value)
}

proptest! {
    #![proptest_config(random::config(150))]

    #[test]
    fn keyed_states_see_their_items_in_order(
        items in prop::collection::vec((any::<u8>(), any::<u64>()), 0..400),
        shards in 1..9usize,
        workers in 1..6usize,
        window in 1..40usize,
        inline: bool,
    ) {
        let stream = Stream::from_iter(items.clone()).workers(workers).window(window);
        let stream = if inline { stream.inline() } else { stream };
        let given = stream
            .map(|item| item)
            .map_sharded(Shards::by_key(shards, |item: &(u8, u64)| item.0), HashMap::new, by_key)
            .map(|digest| digest)
            .collect::<Vec<_>>();
        prop_assert_eq!(given, digests(&items));
    }

    #[test]
    fn the_first_failure_is_the_loops(
        keys in prop::collection::vec(any::<u8>(), 1..300),
        failing in prop::collection::hash_set(0..300usize, 0..4),
        shards in 1..7usize,
        workers in 1..5usize,
        window in 1..40usize,
    ) {
        let items = keys.iter().copied().enumerate();
        let mut seen = Vec::new();
        let result = Stream::from_iter(items)
            .workers(workers)
            .window(window)
            .try_map_sharded(Shards::by_key(shards, |&(_, key): &(usize, u8)| key), || 0, |count, (n, _)| {
                *count += 1;
                if failing.contains(&n) { Err(n) } else { Ok(n) }
            })
            .for_each(|n| seen.push(n));
        let first = failing.iter().copied().filter(|&n| n < keys.len()).min();
        prop_assert_eq!(result, first.map_or(Ok(()), Err));
        prop_assert_eq!(seen, (0..first.unwrap_or(keys.len())).collect::<Vec<_>>());
    }
}

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
fn a_panic_comes_back_behind_the_items_before_it_and_every_item_is_dropped() {
    struct Counted<'c>(u32, &'c AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }
    hush();
    within(|| {
        for workers in [1, 2, 4] {
            let (made, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let seen = Mutex::new(Vec::new());
            let source = (0..500).map(|n| {
                made.fetch_add(1, Ordering::SeqCst);
                Counted(n, &dropped)
            });
            let run = || {
                let stream = Stream::from_iter(source).workers(workers).window(16);
                stream
                    .map_sharded(
                        Shards::dealt(3),
                        || (),
                        |(), item| {
                            assert!(item.0 != 100, "item 100");
                            item
                        },
                    )
                    .for_each(|item| seen.lock().unwrap().push(item.0));
            };
            let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"item 100"));
            assert_eq!(*seen.lock().unwrap(), (0..100).collect::<Vec<_>>());
            assert_eq!(made.load(Ordering::SeqCst), dropped.load(Ordering::SeqCst));
        }
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
fn a_flat_map_is_spread_before_it_is_dealt() {
    let stream = Stream::from_iter(1..6usize).workers(2).window(4).flat_map(|n| 0..n).spread();
    let counts = stream.map_sharded(Shards::by_key(3, |n: &usize| *n), HashMap::new, |counts, n| {
        let count = counts.entry(n).or_insert(0);
        *count += 1;
        (n, *count)
    });
    let mut loops = Vec::new();
    for n in 1..6 {
        loops.extend((0..n).map(|m| (m, n - m)));
    }
    assert_eq!(counts.collect::<Vec<_>>(), loops);
}

#[test]
#[should_panic(expected = "`Shards::dealt(0)`: a stage has 1 shard or more")]
fn no_shards_are_refused() {
    let _ = Shards::dealt(0);
}

#[test]
#[should_panic(expected = "whose replicas are its shards")]
fn shards_are_the_replicas() {
    let stream = Stream::from_iter(0..3u32);
    let _ = stream.map_sharded(Shards::dealt(2), || (), |(), n| n).replicate(4);
}

#[test]
fn the_plan_says_how_items_are_dealt() {
    let plan = Stream::from_iter(0..3u32).workers(2).map_sharded(Shards::dealt(4), || (), |(), n| n).plan();
    let text = plan.to_string();
    assert!(text.contains("dealt in turn") && text.contains("state per replica"), "{text}");
}
