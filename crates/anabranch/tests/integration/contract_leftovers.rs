//! Leftover items of a failed run that panic when they are dropped. The caller still gets the failure, and
//! nothing is leaked (C2, C6).

use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::contract_support::planted::{Touchy, planted};
use crate::contract_support::watchdog::{hush, within};
use anabranch::Stream;

#[test]
fn a_panic_of_one_leftover_does_not_cost_the_others_their_drop() {
    hush();
    within(|| {
        for workers in [2, 4] {
            for at in [10, 12, 30] {
                let (drops, asked) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let source = (0..1_000).map(|n| {
                    asked.fetch_add(1, Ordering::SeqCst);
                    Touchy { n, touchy: n == at, drops: &drops }
                });
                let run = || {
                    Stream::from_iter(source)
                        .workers(workers)
                        .window(64)
                        .map(|item| {
                            if item.n == 5 {
                                thread::sleep(Duration::from_millis(2));
                            }
                            item
                        })
                        .try_for_each(|item| if item.n == 5 { Err(item.n) } else { Ok(()) })
                };
                // Either of the two panics may come back. In both cases all items are dropped.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                assert_eq!(drops.load(Ordering::SeqCst), asked.load(Ordering::SeqCst), "touchy: {at}");
            }
        }
    });
}

#[test]
fn a_leftover_that_panics_does_not_take_the_place_of_the_failure() {
    hush();
    within(|| {
        for workers in [2, 4] {
            for _ in 0..20 {
                let drops = AtomicUsize::new(0);
                let source = (0..1_000).map(|n| Touchy { n, touchy: n > 5, drops: &drops });
                let result = Stream::from_iter(source)
                    .workers(workers)
                    .window(64)
                    .map(|item| {
                        if item.n == 5 {
                            thread::sleep(Duration::from_millis(1));
                        }
                        item
                    })
                    .try_for_each(|item| if item.n == 5 { Err(item.n) } else { Ok(()) });
                assert_eq!(result, Err(5), "the loop would not have met the items behind it");
            }
        }
    });
}

#[test]
fn a_states_drop_that_panics_does_not_take_the_place_of_the_failure() {
    struct State;
    impl Drop for State {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic_any(planted(5));
            }
        }
    }
    hush();
    within(|| {
        for workers in [1, 2, 4] {
            let stream = Stream::from_iter(0..50u64).workers(workers).map_init(|| State, |_, n| n);
            let result = stream.try_for_each(|n| if n == 5 { Err(n) } else { Ok(()) });
            assert_eq!(result, Err(5), "{workers} workers");
        }
    });
}
