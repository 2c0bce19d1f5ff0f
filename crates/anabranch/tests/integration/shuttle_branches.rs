//! Runs with branches, in many random schedules.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use crate::model::{Gate, check};
use anabranch::{Lap, Stream};

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
                    items.serial_map(|n| {
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
        let pairs = pairs.branch(|items| items.serial_map(meet)).branch(|items| items.serial_map(meet)).zip();
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
            .branch(|items| items.try_serial_map(fails(0, 3)))
            .branch(|items| items.try_map(fails(1, 2)))
            .branch(|items| items.try_serial_map(fails(2, 2)))
            .zip()
            .for_each(|(n, ..)| seen.push(n));
        assert_eq!((result, seen), (Err((2, 1)), vec![0, 1]));
    });
}

#[test]
fn items_go_round_in_the_same_order() {
    let lap = |(n, rounds): (u64, u64)| match rounds {
        0 => Lap::Done(n),
        _ => Lap::Again((n, rounds - 1)),
    };
    for (workers, window, places) in [(2, 2, 1), (2, 3, 2), (3, 4, 3)] {
        let run = move |workers: usize| {
            let stream = Stream::from_iter([(0, 1), (1, 0), (2, 2)]).workers(workers).window(window);
            stream.feedback(places, |laps| laps.map(lap)).collect::<Vec<_>>()
        };
        let expected = match places {
            1 => [0, 1, 2],
            _ => [1, 0, 2],
        };
        check(1_000, move || assert_eq!(run(workers), expected));
    }
}

#[test]
fn a_loop_that_fails_gives_the_results_before() {
    check(1_000, || {
        let lap = |n: u64| {
            if n == 13 { Err(n) } else { Ok(if n < 10 { Lap::Again(n + 10) } else { Lap::Done(n) }) }
        };
        let mut seen = Vec::new();
        let stream = Stream::from_iter(0..6).workers(2).window(4);
        let result = stream.feedback(2, |laps| laps.try_map(lap)).for_each(|n| seen.push(n));
        assert_eq!((result, seen), (Err(13), vec![10, 11, 12]));
    });
}
