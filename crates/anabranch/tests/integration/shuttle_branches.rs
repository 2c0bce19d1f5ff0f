//! Runs with branches, in many random schedules.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use crate::model::{Gate, check};
use anabranch::Stream;

#[test]
fn branches_join_in_order() {
    for (workers, window) in [(2, 1), (2, 3), (3, 2)] {
        check(700, move || {
            let mut sum = 0;
            let pairs = Stream::from_iter(0..4u64)
                .workers(workers)
                .window(window)
                .broadcast()
                .branch(|items| items.map(|n| 10 * n))
                .branch(|items| {
                    items.serial(|n| {
                        sum += n;
                        sum
                    })
                })
                .zip();
            assert_eq!(pairs.collect::<Vec<_>>(), [(0, 0), (10, 1), (20, 3), (30, 6)]);
        });
    }
}

#[test]
fn serial_stages_of_two_branches_meet() {
    check(2_000, || {
        let met = Gate::new();
        let meet = |n: u64| {
            met.pass();
            met.wait_for(2 * (n + 1));
            n
        };
        let pairs = Stream::from_iter(0..2).workers(2).window(2).broadcast();
        let pairs = pairs.branch(|items| items.serial(meet)).branch(|items| items.serial(meet)).zip();
        assert_eq!(pairs.collect::<Vec<_>>(), [(0, 0), (1, 1)]);
    });
}

#[test]
fn the_first_failure_is_that_of_the_first_branch_at_the_first_item() {
    check(1_000, || {
        let mut seen = Vec::new();
        let fails = |branch: u64, at: u64| move |n: u64| if n >= at { Err((n, branch)) } else { Ok(n) };
        let result = Stream::from_iter(0..5)
            .workers(2)
            .window(3)
            .broadcast()
            .branch(|items| items.try_serial(fails(0, 3)))
            .branch(|items| items.try_map(fails(1, 2)))
            .branch(|items| items.try_serial(fails(2, 2)))
            .zip()
            .for_each(|(n, ..)| seen.push(n));
        assert_eq!((result, seen), (Err((2, 1)), vec![0, 1]));
    });
}
