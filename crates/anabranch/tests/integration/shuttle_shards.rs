//! Runs whose items are dealt to shards, in many random schedules.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use crate::model::{Gate, check};
use anabranch::{Shards, Stream};

#[test]
fn each_shard_keeps_its_order() {
    for (workers, window) in [(2, 2), (2, 6), (3, 4)] {
        check(1_000, move || {
            let stream = Stream::from_iter(0..6).workers(workers).window(window);
            let counted = stream.map_sharded(
                Shards::dealt(2),
                || 0,
                |count, n: u64| {
                    *count += 1;
                    (n, *count)
                },
            );
            let counted = counted.collect::<Vec<_>>();
            assert_eq!(counted, [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (5, 3)]);
        });
    }
}

#[test]
fn items_of_all_shards_meet() {
    check(2_000, || {
        let started = Gate::new();
        let stream = Stream::from_iter(0..3).workers(3).window(3);
        let met = stream.map_sharded(
            Shards::dealt(3),
            || (),
            |(), n: u64| {
                started.pass();
                started.wait_for(3);
                n
            },
        );
        assert_eq!(met.collect::<Vec<_>>(), [0, 1, 2]);
    });
}

#[test]
fn an_item_waits_for_a_later_one_of_another_shard() {
    // There are more items than one dealing or serving processes, so the rest is left to other threads.
    check(2_000, || {
        let last = Gate::new();
        let stream = Stream::from_iter(0..6).workers(2).window(6);
        let met = stream.map_sharded(
            Shards::dealt(2),
            || (),
            |(), n: u64| {
                match n {
                    0 => last.wait_for(1),
                    5 => last.pass(),
                    _ => {}
                }
                n
            },
        );
        assert_eq!(met.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    });
}

#[test]
fn the_first_failure_is_the_loops() {
    check(1_000, || {
        let mut seen = Vec::new();
        let result = Stream::from_iter(0..6)
            .workers(2)
            .window(4)
            .try_map_sharded(
                Shards::dealt(2),
                || (),
                |(), n: u64| if n == 2 || n == 3 { Err(n) } else { Ok(n) },
            )
            .for_each(|n| seen.push(n));
        assert_eq!((result, seen), (Err(2), vec![0, 1]));
    });
}

#[test]
fn items_at_every_depth_of_a_line_meet() {
    // The notification for one shard may wake a worker that then serves another shard. It must pass the
    // notification on.
    check(2_000, || {
        let started = Gate::new();
        let meet = |n: u64| {
            started.pass();
            started.wait_for(3);
            n
        };
        let stream = Stream::from_iter(0..3).workers(3).window(3).burst(1);
        let at_first = |n| if n == 2 { meet(n) } else { n };
        let in_the_middle = |n| if n == 1 { meet(n) } else { n };
        let at_last = |n| if n == 0 { meet(n) } else { n };
        let met = stream.serial_map(at_first).map(in_the_middle).serial_map(|n| n).map(at_last);
        assert_eq!(met.collect::<Vec<_>>(), [0, 1, 2]);
    });
}
