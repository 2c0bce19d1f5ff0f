//! Runs that share a pool, in many random schedules. Helpers move between the runs, and a helper that leaves
//! a run leaves no work behind that no other thread sees.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use crate::model::{Gate, check};
use anabranch::{Pool, Stream, Workers};
use anabranch_record::sync::{Arc, thread};

/// A run whose source gives item *k* only when the sink has the *k* items before it (C10).
fn gated(pool: &Pool, items: u64) {
    let passed = Gate::new();
    let source = (0..items).inspect(|&n| passed.wait_for(n));
    let stream = Stream::from_iter(source).pool(pool).window(4);
    stream.map(|n| n + 1).serial_map(|n| n).map(|n| n).for_each(|_| passed.pass());
    assert_eq!(passed.count(), items);
}

/// Like [`gated`], with stages that open a new domain.
fn gated_and_opened(pool: &Pool, items: u64) {
    let passed = Gate::new();
    let source = (0..items).inspect(|&n| passed.wait_for(2 * n));
    let stream = Stream::from_iter(source).pool(pool).window(2);
    stream.serial_flat_map(|n| [n, n]).map(|n| n).for_each(|_| passed.pass());
    assert_eq!(passed.count(), 2 * items);
}

/// Two such runs in two threads. They are not scoped threads: in shuttle, the end of a scoped thread wakes
/// the thread that waits in the body of the scope, even if that waits for something else.
fn two_at_once(pool: Pool, run: fn(&Pool, u64), items: u64) {
    let pool = Arc::new(pool);
    let other = Arc::clone(&pool);
    let thread = thread::spawn(move || run(&other, items));
    run(&pool, items);
    thread.join().unwrap();
}

#[test]
fn a_source_that_waits_for_its_results() {
    check(1_000, || gated(&Pool::new(2), 4));
}

#[test]
fn two_such_runs_on_a_pool_for_two() {
    // While both runs work there is no room for a helper, or there is one that has to leave.
    check(1_000, || {
        two_at_once(Pool::new(2), gated, 3);
    });
}

#[test]
fn two_such_runs_share_one_helper() {
    check(1_000, || {
        two_at_once(Pool::new(3), gated, 3);
    });
}

#[test]
fn two_runs_that_open_their_items() {
    check(500, || {
        two_at_once(Pool::new(2), gated_and_opened, 2);
    });
}

#[test]
fn a_run_inside_a_run() {
    check(500, || {
        let pool = Pool::new(2);
        let inner = |n: u64| Stream::from_iter(0..n).pool(&pool).map(|m| m).fold(0, |sum, m| sum + m);
        let sums = Stream::from_iter(0..4).pool(&pool).map(inner).collect::<Vec<_>>();
        assert_eq!(sums, [0, 0, 1, 3]);
    });
}

#[test]
fn a_source_that_waits_while_workers_leave() {
    check(1_000, || {
        let workers = Workers::new(3);
        let passed = Gate::new();
        let source = (0..5).inspect(|&n| {
            passed.wait_for(n);
            if n == 2 {
                workers.set(1);
            }
        });
        let stream = Stream::from_iter(source).workers(&workers).window(4);
        stream.map(|n| n + 1).serial_map(|n| n).map(|n| n).for_each(|_| passed.pass());
        assert_eq!(passed.count(), 5);
    });
}
