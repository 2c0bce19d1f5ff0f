//! Whole runs whose items wait for one another. If a worker is idle although there is work, the run hangs.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_
//!
//! Claims are of one item (`burst(1)`), since the items of one claim run one after the other.

use std::ops::RangeBounds;

use crate::model::{Gate, check};
use anabranch::{Source, Stream};
use anabranch_record::sync::Arc;

/// Gives item `n`. Item `passes` passes the gate, and items in `waiting` wait for it.
fn at_gate(n: u64, gate: &Gate, waiting: impl RangeBounds<u64>, passes: u64) -> u64 {
    if n == passes {
        gate.pass();
    } else if waiting.contains(&n) {
        gate.wait_for(1);
    }
    n
}

/// Gives item `n` once so many have come to the gate.
fn meet(n: u64, started: &Gate, many: u64) -> u64 {
    started.pass();
    started.wait_for(many);
    n
}

#[test]
fn three_items_wait_for_one_another() {
    for window in [3, 4] {
        check(1_000, move || {
            let started = Gate::new();
            let stream = Stream::from_iter(0..3).workers(3).window(window).burst(1);
            assert_eq!(stream.map(|n| meet(n, &started, 3)).collect::<Vec<_>>(), [0, 1, 2]);
        });
    }
}

#[test]
fn three_items_meet_behind_a_serial_stage() {
    check(1_000, || {
        let started = Gate::new();
        let stream = Stream::from_iter(0..3).workers(3).window(3).burst(1).map(|n| n).serial_map(|n| n);
        assert_eq!(stream.map(|n| meet(n, &started, 3)).collect::<Vec<_>>(), [0, 1, 2]);
    });
}

#[test]
fn pairs_meet_again_and_again() {
    check(1_000, || {
        let started = Gate::new();
        let stream = Stream::from_iter(0..6).workers(2).window(2).burst(1);
        let meet = |n| meet(n, &started, n / 2 * 2 + 2);
        assert_eq!(stream.map(meet).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    });
}

#[test]
fn a_source_that_waits_for_its_results() {
    // C10: the source gives item k only once the sink has the k items before it.
    for (workers, window) in [(2, 1), (2, 2), (2, 4), (3, 4)] {
        check(500, move || {
            let passed = Gate::new();
            let items = (0..4).inspect(|&n| passed.wait_for(n));
            Stream::from_iter(items)
                .workers(workers)
                .window(window)
                .map(|n| n + 1)
                .serial_map(|n| n)
                .map(|n| n)
                .for_each(|_| passed.pass());
            assert_eq!(passed.count(), 4);
        });
    }
}

#[test]
fn a_dedicated_source_that_waits_for_its_results() {
    for workers in [1, 2] {
        check(500, move || {
            let passed = Gate::new();
            let items = (0..4).inspect(|&n| passed.wait_for(n));
            let stream = Source::new(items).dedicated().into_stream().workers(workers).window(2);
            stream.map(|n| n + 1).dedicated().serial_map(|n| n).for_each(|_| passed.pass());
            assert_eq!(passed.count(), 4);
        });
    }
}

#[test]
fn sink_and_stage_wait_for_an_item_that_has_yet_to_be_pulled() {
    // Item 0 makes room for item 3. The sink is then busy with item 1 and a worker with item 2, until item 3
    // has started. The thread that held the source's baton when the room was made must see the room, or wake
    // the third thread.
    check(4_000, || {
        let third = Gate::new();
        let stream = Stream::from_iter(0..4).workers(3).window(3).burst(1);
        stream.map(|n| at_gate(n, &third, 2..=2, 3)).for_each(|n| {
            at_gate(n, &third, 1..=1, 4);
        });
    });
}

#[test]
fn sink_and_stage_wait_for_a_later_item_to_start() {
    check(4_000, || {
        let last = Gate::new();
        let stream = Stream::from_iter(0..3).workers(3).window(3).burst(1);
        stream.map(|n| at_gate(n, &last, 1..=1, 2)).for_each(|n| {
            at_gate(n, &last, 0..=0, 4);
        });
    });
}

#[test]
fn a_quantum_ends_before_an_item_that_others_wait_for() {
    // Under shuttle a serving ends after two items. The thread that ends it carries item 1, which waits for
    // item 2. Item 2 is before the serial stage, and the thread that brought it there sleeps.
    check(4_000, || {
        let (brought, last) = (Gate::new(), Gate::new());
        let bring = |n| at_gate(n, &brought, 3.., 2);
        let serve = |n| at_gate(n, &brought, 1..=1, 3);
        let meet = |n| at_gate(n, &last, 1..=1, 2);
        let stream = Stream::from_iter(0..3).workers(3).window(2).burst(1);
        assert_eq!(stream.map(bring).serial_map(serve).map(meet).collect::<Vec<_>>(), [0, 1, 2]);
    });
}

#[test]
fn two_items_wait_for_a_third_at_a_serial_stage() {
    // A thread that stamps item 2 while the stage is held leaves it to the holder, and both carry items that
    // wait for it.
    check(4_000, || {
        let last = Gate::new();
        let meet = |n| at_gate(n, &last, .., 2);
        let stream = Stream::from_iter(0..3).workers(3).window(3).burst(1);
        assert_eq!(stream.map(|n| n).serial_map(|n| n).map(meet).collect::<Vec<_>>(), [0, 1, 2]);
    });
}

#[test]
fn two_items_wait_for_a_third_between_serial_neighbours() {
    check(4_000, || {
        let last = Gate::new();
        let meet = |n| at_gate(n, &last, .., 2);
        let stream = Stream::from_iter(0..3).workers(3).window(3).burst(1);
        assert_eq!(stream.serial_map(|n| n).serial_map(|n| n).map(meet).collect::<Vec<_>>(), [0, 1, 2]);
    });
}

#[test]
fn the_sink_waits_for_an_item_behind_a_limit_of_replicas() {
    // The thread that looked while the only replica was busy sleeps. The thread that was busy is now the
    // sink, and waits.
    check(2_000, || {
        let started = Gate::new();
        let stream = Stream::from_iter(0..2).workers(2).window(2).burst(1);
        let start = |n: u64| {
            started.pass();
            n
        };
        stream.replicas(1).map(start).for_each(|_| started.wait_for(2));
    });
}

#[test]
fn two_replicas_meet_and_a_third_worker_serves() {
    check(1_000, || {
        let started = Arc::new(Gate::new());
        let meet = |n| meet(n, &started, n / 2 * 2 + 2);
        let stream = Stream::from_iter(0..4).workers(3).window(4).burst(1);
        assert_eq!(stream.replicas(2).map(meet).collect::<Vec<_>>(), [0, 1, 2, 3]);
    });
}
