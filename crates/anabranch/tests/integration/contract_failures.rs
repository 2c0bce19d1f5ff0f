//! Failures at any place. The caller gets the failure that the loop would have met, unchanged, after exactly
//! the items before it. No item is lost and no thread is left (C2, C6).

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::panic_any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::contract_support::planted::{Bomb, Planted, Touchy, planted};
use crate::contract_support::watchdog::{Gate, PLANTED, comes_true, hush, message, panic_of, within};
use anabranch::Stream;

/// Runs `body` for several numbers of workers and windows.
fn for_settings(body: impl Fn(usize, usize) + Send + 'static) {
    hush();
    within(move || {
        for workers in [1, 2, 3, 8] {
            for window in [1, 2, 5, 64] {
                body(workers, window);
            }
        }
    });
}

/// Checks that `run` panics with `planted(at)` after exactly the items before it. `run` gets a vector for
/// what the sink has seen.
fn panics_at(at: u64, run: impl FnOnce(&mut Vec<u64>)) {
    let mut got = Vec::new();
    let payload = panic_of(|| run(&mut got));
    assert_eq!(*payload.downcast::<Planted>().expect("its own payload"), planted(at));
    assert_eq!(got, (0..at).collect::<Vec<_>>());
}

fn panic_if(n: u64, at: u64) -> u64 {
    if n == at {
        panic_any(planted(at));
    }
    n
}

#[test]
fn a_panic_of_the_source_comes_back_whole() {
    for_settings(|workers, window| {
        for at in [0, 1, 17] {
            panics_at(at, |got| {
                let source = (0..100).map(|n| panic_if(n, at));
                Stream::from_iter(source)
                    .workers(workers)
                    .window(window)
                    .map(|n| n)
                    .for_each(|n| got.push(n));
            });
        }
    });
}

#[test]
fn a_panic_of_each_kind_of_stage_comes_back_whole() {
    for_settings(|workers, window| {
        for at in [0, 1, 17, 99] {
            macro_rules! check {
                (|$stream:ident| $stages:expr) => {
                    panics_at(at, |got| {
                        let $stream = Stream::from_iter(0..100u64).workers(workers).window(window);
                        $stages.for_each(|n| got.push(n));
                    })
                };
            }
            check!(|s| s.map(|n| panic_if(n, at)));
            check!(|s| s.filter(|&n| panic_if(n, at) == n));
            check!(|s| s.filter_map(|n| Some(panic_if(n, at))));
            check!(|s| s.inspect(|&n| assert_eq!(panic_if(n, at), n)));
            check!(|s| s.flat_map(|n| [panic_if(n, at)]));
            check!(|s| s.flat_map(|n| std::iter::once(n).map(|n| panic_if(n, at))));
            check!(|s| s.map_init(|| 0, |_, n| panic_if(n, at)));
            check!(|s| s.map(|n| n).serial_map(|n| n).map(|n| panic_if(n, at)).serial_map(|n| n));
            check!(|s| s.serial_map(|n| panic_if(n, at)));
            check!(|s| s.map(|n| n).serial_map(|n| panic_if(n, at)).map(|n| n));
            check!(|s| s.serial_filter_map(|n| Some(panic_if(n, at))));
            check!(|s| s.scan((), |(), n| Some(panic_if(n, at))));
            check!(|s| s.take_while(|&n| panic_if(n, at) == n));
            check!(|s| s.zip((0..100).map(|n| panic_if(n, at))).map(|(n, _)| n));
            check!(|s| s.flat_map(|n| [n]).serial_map(|n| panic_if(n, at)).map(|n| n));
        }
    });
}

#[test]
fn a_panic_of_the_sink_comes_back_whole() {
    for_settings(|workers, window| {
        for at in [0, 1, 17, 99] {
            let stream = || Stream::from_iter(0..100u64).workers(workers).window(window).map(|n| n);
            panics_at(at, |got| stream().for_each(|n| got.push(panic_if(n, at))));
            panics_at(at, |got| {
                stream().fold((), |(), n| got.push(panic_if(n, at)));
            });
            panics_at(at, |got| {
                stream().find(|&n| {
                    got.push(panic_if(n, at));
                    false
                });
            });
            let fallible = |got: &mut Vec<_>, n| {
                got.push(panic_if(n, at));
                Ok::<_, ()>(())
            };
            panics_at(at, |got| stream().try_for_each(|n| fallible(got, n)).unwrap());
        }
    });
}

#[test]
fn a_panic_of_a_factory_comes_back_whole() {
    for_settings(|workers, window| {
        let stream = || Stream::from_iter(0..100u64).workers(workers).window(window);
        panics_at(0, |got| {
            stream().map_init(|| panic_any(planted(0)), |(), n| n).for_each(|n| got.push(n));
        });
        panics_at(0, |got| {
            let stage = stream().serial_map(|n| n).map_init(|| panic_any(planted(0)), |(), n| n);
            stage.serial_map(|n| n).for_each(|n| got.push(n));
        });
    });
}

#[test]
fn a_panic_of_one_workers_factory_is_a_failure_at_the_item_that_needed_it() {
    hush();
    within(|| {
        for workers in 2..6 {
            let (made, mut got) = (AtomicUsize::new(0), Vec::new());
            let factory = || {
                // The factory makes the first state and panics for all others.
                if made.fetch_add(1, Ordering::SeqCst) > 0 {
                    panic_any(planted(1));
                }
            };
            let run = || {
                Stream::from_iter(0..2_000u64)
                    .workers(workers)
                    .window(16)
                    .map_init(factory, |(), n| {
                        thread::yield_now();
                        n
                    })
                    .for_each(|n| got.push(n));
            };
            // A second worker may or may not have joined in time. The delivered results are in order in both
            // cases.
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
                Ok(()) => assert_eq!(got.len(), 2_000),
                Err(payload) => assert!(payload.is::<Planted>()),
            }
            assert_eq!(got, (0..got.len() as u64).collect::<Vec<_>>());
        }
    });
}

#[test]
fn a_panic_of_an_items_drop_is_a_failure_at_that_item() {
    for_settings(|workers, window| {
        for at in [0, 1, 17] {
            let drops = AtomicUsize::new(0);
            let source = || {
                let drops = &drops;
                (0..100).map(move |n| Touchy { n, touchy: n == at, drops })
            };
            let stream = || Stream::from_iter(source()).workers(workers).window(window);
            panics_at(at, |got| stream().map(|item| item.n).for_each(|n| got.push(n)));
            panics_at(at, |got| stream().serial_map(|item| item.n).for_each(|n| got.push(n)));
            panics_at(at, |got| {
                // A filter drops the item.
                let stage = stream().filter(|item| item.n != at).map(|item| item.n);
                stage.for_each(|n| got.push(n));
            });
            panics_at(at, |got| {
                // The sink has seen the item and drops it.
                stream().map(|item| item).for_each(|item| {
                    if item.n != at {
                        got.push(item.n);
                    }
                });
            });
        }
    });
}

#[test]
fn a_panic_of_a_states_drop_reaches_the_caller() {
    struct State;
    impl Drop for State {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic_any(planted(5));
            }
        }
    }
    for_settings(|workers, window| {
        let mut got = Vec::new();
        let payload = panic_of(|| {
            Stream::from_iter(0..5u64)
                .workers(workers)
                .window(window)
                .map_init(|| State, |_, n| n)
                .for_each(|n| got.push(n));
        });
        assert!(payload.is::<Planted>());
        assert_eq!(got, (0..5).collect::<Vec<_>>());
    });
}

#[test]
fn states_are_dropped_on_their_threads_before_the_call_returns() {
    struct State<'c>(thread::ThreadId, &'c AtomicUsize, PhantomData<*const ()>);
    impl Drop for State<'_> {
        fn drop(&mut self) {
            assert_eq!(self.0, thread::current().id());
            self.1.fetch_sub(1, Ordering::SeqCst);
        }
    }
    for_settings(|workers, window| {
        let alive = AtomicUsize::new(0);
        let make = || {
            alive.fetch_add(1, Ordering::SeqCst);
            State(thread::current().id(), &alive, PhantomData)
        };
        for at in [3, 1_000] {
            let stream = Stream::from_iter(0..200u64).workers(workers).window(window);
            let result = stream
                .map_init(make, |state, n| {
                    assert_eq!(state.0, thread::current().id());
                    n
                })
                .try_for_each(|n| if n == at { Err(n) } else { Ok(()) });
            assert_eq!(result.is_err(), at == 3);
            assert_eq!(alive.load(Ordering::SeqCst), 0);
        }
    });
}

#[test]
fn the_earlier_failure_wins_even_when_it_is_later_in_time() {
    for_settings(|workers, window| {
        if workers == 1 || window == 1 {
            return;
        }
        // Item 20 fails only after item 21 has failed.
        let (later, mut got) = (AtomicBool::new(false), Vec::new());
        let result = Stream::from_iter(0..1_000u64)
            .workers(workers)
            .window(window)
            .try_map(|n| match n {
                20 => {
                    // Item 21 may come after this one on the same worker, so the wait has a limit.
                    comes_true(Duration::from_millis(50), || later.load(Ordering::SeqCst));
                    thread::sleep(Duration::from_millis(2));
                    Err(n)
                }
                21.. => {
                    later.store(true, Ordering::SeqCst);
                    Err(n)
                }
                _ => Ok(n),
            })
            .for_each(|n| got.push(n));
        assert_eq!(result, Err(20));
        assert_eq!(got, (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn an_error_before_a_panic_wins_and_a_panic_before_an_error_too() {
    for_settings(|workers, window| {
        let run = |error: u64, panic: u64| {
            let mut got = Vec::new();
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                Stream::from_iter(0..100u64)
                    .workers(workers)
                    .window(window)
                    .map(|n| panic_if(n, panic))
                    .serial_map(|n| n)
                    .try_map(|n| if n == error { Err(n) } else { Ok(n) })
                    .for_each(|n| got.push(n))
            }));
            (result.map_err(|payload| *payload.downcast::<Planted>().unwrap()), got)
        };
        assert_eq!(run(6, 7), (Ok(Err(6)), (0..6).collect()));
        assert_eq!(run(7, 6), (Err(planted(6)), (0..6).collect()));
    });
}

#[test]
fn of_two_stages_that_fail_at_one_item_the_first_one_counts() {
    for_settings(|workers, window| {
        let mut got = Vec::new();
        let fail = |at: u64, stage: &'static str| move |n| if n == at { Err((n, stage)) } else { Ok(n) };
        let result = Stream::from_iter(0..100u64)
            .workers(workers)
            .window(window)
            .try_map(fail(30, "first"))
            .try_map(fail(30, "second"))
            .try_serial_map(fail(30, "third"))
            .try_map(fail(30, "fourth"))
            .try_for_each(|n| {
                got.push(n);
                fail(30, "sink")(n).map(drop)
            });
        assert_eq!(result, Err((30, "first")));
        assert_eq!(got, (0..30).collect::<Vec<_>>());
    });
}

#[test]
fn what_a_batch_of_children_gave_before_its_failure_is_delivered() {
    for_settings(|workers, window| {
        let run = |panics: bool| {
            let mut got = Vec::new();
            let children = move |n: u64| {
                (0..5).map(move |child| {
                    if (n, child) == (7, 3) && panics {
                        panic_any(planted(7));
                    }
                    (n, child)
                })
            };
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                Stream::from_iter(0..50)
                    .workers(workers)
                    .window(window)
                    .flat_map(children)
                    .try_map(|item| if item == (7, 3) { Err(item) } else { Ok(item) })
                    .serial_map(|item| item)
                    .map(|item| item)
                    .for_each(|item| got.push(item))
            }));
            let before = (0..50).flat_map(|n| (0..5).map(move |child| (n, child)));
            assert_eq!(got, before.take_while(|&item| item != (7, 3)).collect::<Vec<_>>());
            result
        };
        assert_eq!(run(false).expect("an error"), Err((7, 3)));
        assert_eq!(*run(true).unwrap_err().downcast::<Planted>().unwrap(), planted(7));
    });
}

#[test]
fn a_failure_behind_the_first_children_comes_before_one_among_the_last() {
    for_settings(|workers, window| {
        let mut got = Vec::new();
        let fail = |at| move |child| if child == at { Err(child) } else { Ok(child) };
        // Child 4 of item 2 fails where it is made, and child 1 after the next serial stage.
        let result = Stream::from_iter(0..50u64)
            .workers(workers)
            .window(window)
            .flat_map(|n| (0..5).map(move |child| 10 * n + child))
            .try_map(fail(24))
            .serial_map(|child| child)
            .try_map(fail(21))
            .for_each(|child| got.push(child));
        assert_eq!(result, Err(21));
        assert_eq!(got, [0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20]);
    });
}

#[test]
fn who_has_enough_before_the_failure_hides_it() {
    for_settings(|workers, window| {
        let stream = || {
            let stream = Stream::from_iter(0..1_000u64).workers(workers).window(window);
            stream.flat_map(|n| [n, n]).try_map(|n| if n == 20 { Err(n) } else { Ok(n) }).serial_map(|n| n)
        };
        assert_eq!(stream().find(|&n| n == 19), Ok(Some(19)));
        assert_eq!(stream().take(39).count(), Ok(39));
        assert_eq!(stream().take(40).map(|n| n).chunks(7).count(), Ok(6));
        assert_eq!(stream().take(41).count(), Err(20));
        assert_eq!(stream().find(|&n| n == 20), Err(20));
        assert_eq!(stream().any(|n| n == 19), Ok(true));
    });
}

#[test]
fn a_stop_inside_a_batch_of_children_leaves_the_rest() {
    for_settings(|workers, window| {
        let stream = || {
            let stream = Stream::from_iter(0..1_000u64).workers(workers).window(window);
            stream.flat_map(|n| (0..10).map(move |child| 10 * n + child)).map(|n| n)
        };
        let taken = stream().take(25).map(|n| n).collect::<Vec<_>>();
        assert_eq!(taken, (0..25).collect::<Vec<_>>());
        assert_eq!(stream().find(|&n| n == 33), Some(33));
        let mut seen = 0;
        let result = stream().serial_map(|n| n).try_for_each(|n| {
            seen += 1;
            if n == 47 { Err(n) } else { Ok(()) }
        });
        assert_eq!((result, seen), (Err(47), 48));
        // The stage after the stop gives what it has gathered, as at the end of a source.
        let batches = stream().take(25).chunks(10).map(|batch| batch.len()).collect::<Vec<_>>();
        assert_eq!(batches, [10, 10, 5]);
    });
}

#[test]
fn a_sink_that_breaks_ends_an_endless_source() {
    for_settings(|workers, window| {
        let stream = || Stream::from_iter(0u64..).workers(workers).window(window).map(|n| n * 2);
        assert_eq!(stream().find(|&n| n == 200), Some(200));
        assert!(!stream().all(|n| n < 100));
        assert_eq!(stream().take(10).count(), 10);
        assert_eq!(stream().try_for_each(|n| if n == 80 { Err(n) } else { Ok(()) }), Err(80));
    });
}

#[test]
fn an_error_of_the_source_comes_after_all_that_it_gave() {
    for_settings(|workers, window| {
        for at in [0, 1, 30] {
            let mut got = Vec::new();
            let mut asked_again = false;
            let source = (0u64..).map(|n| {
                asked_again |= n > at;
                if n < at { Ok(n) } else { Err(n) }
            });
            let stream = Stream::try_from_iter(source).workers(workers).window(window);
            let result = stream.map(|n| n).serial_map(|n| n).for_each(|n| got.push(n));
            assert_eq!(result, Err(at));
            assert_eq!(got, (0..at).collect::<Vec<_>>());
            assert!(!asked_again);
        }
    });
}

/// Opens its gate when it is dropped.
struct OpensOnDrop(Gate);

impl Drop for OpensOnDrop {
    fn drop(&mut self) {
        self.0.open();
    }
}

#[test]
fn nothing_is_pulled_once_a_failure_is_known() {
    hush();
    within(|| {
        for panics in [false, true] {
            for workers in [2, 3, 8] {
                let (pulls, failed, dropped) = (Gate::default(), Gate::default(), Gate::default());
                let mut asked = 0;
                let source = (0u64..).inspect(|&n| {
                    asked = n;
                    if n == 10 {
                        // The running call is waited for, and no other call follows.
                        pulls.open();
                        failed.pass();
                        // A worker drops its state after it has noted its panic, or when it leaves a run that has failed.
                        dropped.pass();
                    }
                });
                let run = || {
                    Stream::from_iter(source)
                        .workers(workers)
                        .window(64)
                        .try_map_init(
                            || OpensOnDrop(dropped.clone()),
                            |_, n| {
                                if n == 5 {
                                    pulls.pass();
                                    failed.open();
                                    if panics {
                                        panic_any(planted(5));
                                    }
                                    return Err(n);
                                }
                                Ok(n)
                            },
                        )
                        .for_each(|_| {})
                };
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                if panics {
                    assert_eq!(*result.unwrap_err().downcast::<Planted>().unwrap(), planted(5));
                } else {
                    assert_eq!(result.unwrap(), Err(5));
                }
                assert_eq!(asked, 10, "{workers} workers");
            }
        }
    });
}

#[test]
fn stages_behind_a_failure_are_not_run_for_later_items() {
    for_settings(|workers, window| {
        let mut last = Vec::new();
        let result = Stream::from_iter(0..500u64)
            .workers(workers)
            .window(window)
            .map(|n| n)
            .try_serial_map(|n| if n == 100 { Err(n) } else { Ok(n) })
            .map(|n| assert!(n < 100))
            .for_each(|()| last.push(()));
        assert_eq!((result, last.len()), (Err(100), 100));
    });
}

#[test]
fn a_run_that_panicked_leaves_the_next_one_alone() {
    hush();
    within(|| {
        for round in 0..100 {
            panics_at(round % 7, |got| {
                let stream = Stream::from_iter(0..20).workers(3).window(4);
                stream.map(|n| panic_if(n, round % 7)).for_each(|n| got.push(n));
            });
            assert_eq!(Stream::from_iter(0..20).workers(3).map(|n| n).fold(0, |a, b| a + b), 190);
        }
    });
}

#[test]
fn panics_with_texts_keep_their_texts() {
    hush();
    within(|| {
        let payload = panic_of(|| {
            let stream = Stream::from_iter(0..10).workers(2);
            stream.map(|n| assert!(n != 3, "{PLANTED}item {n} is bad")).for_each(|()| {});
        });
        assert_eq!(message(&*payload), format!("{PLANTED}item 3 is bad"));
    });
}

#[test]
fn a_value_that_is_not_sync_may_travel() {
    for_settings(|workers, window| {
        let stream = Stream::from_iter((0..100u64).map(Cell::new)).workers(workers).window(window);
        let stream =
            stream.inspect(|cell| cell.set(cell.get() + 1)).serial_map(|cell| cell).map(Cell::into_inner);
        assert_eq!(stream.fold(0, |a, n| a + n), 5_050);
    });
}

#[test]
fn two_failures_at_once_whose_drops_panic_leave_the_first_and_no_thread_is_lost() {
    let bomb = |origin| Planted { bomb: Bomb::armed(), ..planted(origin) };
    within(move || {
        hush();
        for case in 0..60 {
            let (workers, on_pool, by_panic) = (2 + case % 3, case / 3 % 2 == 0, case / 6 % 2 == 0);
            let pool = anabranch::Pool::new(workers);
            let both = std::sync::Barrier::new(2);
            let stream = Stream::from_iter(0..2u64).window(2).burst(1).workers(workers).try_map(|n| {
                both.wait(); // each on its own worker
                if by_panic { panic_any(bomb(n)) } else { Err::<u64, _>(bomb(n)) }
            });
            let stream = if on_pool { stream.pool(&pool) } else { stream };
            let first = match by_panic {
                true => *panic_of(|| drop(stream.count())).downcast::<Planted>().expect("its own payload"),
                false => stream.count().unwrap_err(),
            };
            first.bomb.disarm();
            assert_eq!(first, planted(0), "case {case}");
        }
    });
}

#[test]
fn a_failure_after_the_last_item_that_counts_is_dropped_quietly() {
    within(|| {
        for workers in 1..=4 {
            for _ in 0..20 {
                let failing = |n: u64| match n {
                    0 => Ok(0),
                    n => Err(Planted { bomb: Bomb::armed(), ..planted(n) }),
                };
                let taken = Stream::from_iter(0..20u64).workers(workers).try_map(failing).take(1);
                assert_eq!(taken.collect::<Vec<_>>(), Ok(vec![0]));
                let mut results = Stream::from_iter(0..20u64).workers(workers).try_map(failing).into_iter();
                assert_eq!(results.next(), Some(Ok(0)));
                drop(results);
                let chunks = Stream::from_iter(0..20u64).try_map(failing).chunks_timeout(1, Duration::MAX);
                assert_eq!(chunks.take(1).collect::<Vec<_>>(), Ok(vec![vec![0]]));
            }
        }
    });
}

#[test]
fn of_a_panic_of_the_stream_and_one_of_the_function_of_with_iter_one_reaches_the_caller() {
    hush();
    within(|| {
        for _ in 0..50 {
            let bomb = |origin| -> u64 { panic_any(Planted { bomb: Bomb::armed(), ..planted(origin) }) };
            let line = Stream::from_iter(0..9u64).workers(2).map(move |n| if n == 4 { bomb(4) } else { n });
            let run = || line.with_iter(|items| items.next().map(|_| bomb(0)));
            let payload = panic_of(move || _ = run());
            payload.downcast_ref::<Planted>().expect("its own payload").bomb.disarm();
        }
    });
}

/// An order that panics for one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fragile(u64);

impl Ord for Fragile {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        panic_if(self.0.max(other.0), 5);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Fragile {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[test]
fn of_two_failures_after_the_order_was_given_up_one_reaches_the_caller() {
    type Line = anabranch::TryStream<'static, u64, Planted>;
    type End = fn(Line) -> Result<(), Planted>;
    let ends: [(&str, End); 7] = [
        ("fold", |line| line.fold(0, |_, n| panic_if(n, 5)).map(drop)),
        ("try_fold", |line| line.try_fold(0, |_, n| Ok(panic_if(n, 5))).map(drop)),
        ("reduce", |line| line.reduce(|_, n| panic_if(n, 5)).map(drop)),
        ("max", |line| line.map(Fragile).max().map(drop)),
        ("any", |line| line.any(|n| panic_if(n, 5) > 99).map(drop)),
        ("for_each", |line| line.for_each(|n| _ = panic_if(n, 5))),
        ("then take", |line| line.take(9).fold(0, |_, n| panic_if(n, 5)).map(drop)),
    ];
    hush();
    within(move || {
        for (name, end) in ends {
            for workers in 1..=4 {
                for _ in 0..30 {
                    let failing = |n: u64| if n == 6 { Err(planted(6)) } else { Ok(n) };
                    let line =
                        Stream::from_iter(0..10u64).workers(workers).window(8).unordered().try_map(failing);
                    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| end(line))) {
                        Ok(result) => assert_eq!(result, Err(planted(6)), "{name}"),
                        Err(payload) => {
                            let found = payload.downcast::<Planted>().unwrap_or_else(|other| {
                                panic!("{name}: {}", message(&*other));
                            });
                            assert_eq!(*found, planted(5), "{name}");
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn a_stage_that_needs_no_more_items_hides_no_panic_of_those_after_it() {
    hush();
    within(|| {
        for workers in 1..=4 {
            for _ in 0..30 {
                let line = Stream::from_iter(0..10u64).workers(workers).unordered().map(|n| n);
                let run = || line.take(3).fold(0, |_, n| -> u64 { panic_any(planted(n)) });
                assert!(panic_of(move || _ = run()).is::<Planted>());
            }
        }
    });
}
