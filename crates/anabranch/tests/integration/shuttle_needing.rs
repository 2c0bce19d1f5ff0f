//! Runs with items that need the results of others, in many random schedules.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use crate::model::{Gate, check};
use anabranch::{Stream, Unmet};
use anabranch_record::sync::{Arc, AtomicU64, Ordering};

#[test]
fn a_chain_gives_its_results_in_order() {
    for (workers, window) in [(2, 1), (2, 3), (3, 2)] {
        check(1_000, move || {
            let before = |number: u64, _: &u64| number.checked_sub(1);
            let sum =
                |n: u64, before: &[_]| n + before.first().map_or(0, |before: &std::sync::Arc<u64>| **before);
            let sums =
                Stream::from_iter(0..5u64).workers(workers).window(window).map_dependent(1, before, sum);
            assert_eq!(sums.map(|sum| *sum).collect::<Vec<_>>(), Ok(vec![0, 1, 3, 6, 10]));
        });
    }
}

#[test]
fn items_that_need_one_result_meet() {
    check(2_000, || {
        let met = Gate::new();
        let star = |number: u64, _: &u64| (number > 0).then_some(0);
        let results =
            Stream::from_iter(0..3u64).workers(2).window(4).burst(1).map_dependent(3, star, |n, _| {
                if n > 0 {
                    met.pass();
                    met.wait_for(2);
                }
                n
            });
        assert_eq!(results.map(|n| *n).collect::<Vec<_>>(), Ok(vec![0, 1, 2]));
    });
}

#[test]
fn a_result_goes_on_before_the_next_one_is_computed() {
    check(2_000, || {
        let out = Gate::new();
        let before = |number: u64, _: &u64| number.checked_sub(1);
        let results = Stream::from_iter(0..4u64).workers(2).window(4).map_dependent(1, before, |n, _| {
            out.wait_for(n);
            n
        });
        assert_eq!(results.for_each(|_| out.pass()), Ok(()));
    });
}

#[test]
fn few_items_wait_for_one_that_is_slow() {
    check(1_000, || {
        // While item 0 runs, at most its reach and one window of items come.
        let came = Arc::new(AtomicU64::new(0));
        let needs = |number: u64, _: &u64| {
            came.fetch_add(1, Ordering::SeqCst);
            number.checked_sub(1)
        };
        let slow = |n: u64, _: &[_]| {
            if n == 0 {
                (0..20).for_each(|_| shuttle::thread::yield_now());
                assert!(came.load(Ordering::SeqCst) <= 1 + 2, "more items wait than the reach and a window");
            }
            n
        };
        let results = Stream::from_iter(0..9u64).workers(2).window(2).map_dependent(1, needs, slow);
        assert_eq!(results.count(), Ok(9));
    });
}

#[test]
fn a_failure_comes_behind_the_results_before_it() {
    check(1_000, || {
        #[derive(Debug, PartialEq)]
        enum Trouble {
            At(u64),
            Unmet(Unmet),
        }
        impl From<Unmet> for Trouble {
            fn from(unmet: Unmet) -> Self {
                Trouble::Unmet(unmet)
            }
        }
        let mut seen = Vec::new();
        let star = |number: u64, _: &u64| (number > 0).then_some(0);
        let fails = |n: u64, _: &[_]| if n >= 2 { Err(Trouble::At(n)) } else { Ok(n) };
        let results = Stream::from_iter(0..5u64).workers(2).window(3).try_map_dependent(5, star, fails);
        assert_eq!(results.for_each(|n| seen.push(*n)), Err(Trouble::At(2)));
        assert_eq!(seen, [0, 1]);
    });
}
