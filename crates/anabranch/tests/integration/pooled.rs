//! Streams that the threads of a shared pool run alone: those that end in an iterator or an asynchronous stream, and whose
//! items come from a channel or from an asynchronous stream.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::contract_support::process::threads_named;
use crate::contract_support::watchdog::{Gate, LIMIT, comes_true, hush, message, panic_of, within};
use anabranch::plan::Wait;
use anabranch::{AsyncItems, CancelToken, Items, Pool, SendError, Sender, Stream, Watch};
use futures::StreamExt;
use futures::executor::{block_on, block_on_stream};

/// A pool whose threads can be counted. The system keeps 15 characters of a name.
fn pool(threads: usize, name: &str) -> Arc<Pool> {
    Arc::new(Pool::with_name(threads, name))
}

/// Counts what was dropped.
#[derive(Debug, Clone, Default)]
struct Drops(Arc<AtomicUsize>);

#[derive(Debug)]
struct Counted(Drops);

impl Drops {
    fn one(&self) -> Counted {
        Counted(self.clone())
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A service that squares numbers.
fn squares(pool: &Arc<Pool>) -> (Sender<u64>, Items<u64>) {
    let (sender, requests) = Stream::channel(4);
    (sender, requests.pool(pool).map(|n: u64| n * n).into_iter())
}

fn many_idle_streams(streams: u64, name: &'static str) {
    within(move || {
        let pool = pool(2, name);
        let mut services: Vec<_> = (0..streams).map(|_| squares(&pool)).collect();
        for round in 0..3 {
            for (n, (sender, results)) in (round..).zip(&mut services) {
                sender.send(n).unwrap();
                assert_eq!(results.next(), Some(n * n));
            }
        }
        // All at once, too.
        for (n, (sender, _)) in (0..).zip(&services) {
            sender.send(n).unwrap();
        }
        for (n, (_, results)) in (0..).zip(&mut services) {
            assert_eq!(results.next(), Some(n * n));
        }
        // While all of them wait, there are the threads of the pool, if the system tells.
        if threads_named("") > 0 {
            assert!(comes_true(LIMIT / 2, || threads_named(name) == 2), "{}", threads_named(name));
        }
        let ended = services.into_iter().map(|(sender, results)| {
            drop(sender);
            results.count()
        });
        assert_eq!(ended.sum::<usize>(), 0);
        drop(pool);
        assert!(comes_true(LIMIT / 2, || threads_named(name) == 0));
    });
}

#[test]
fn fifty_idle_streams_take_no_threads_but_those_of_the_pool() {
    many_idle_streams(50, "fifty");
}

#[test]
fn a_thousand_idle_streams_take_no_threads_but_those_of_the_pool() {
    many_idle_streams(1_000, "thousand");
}

#[test]
fn asynchronous_sources_and_ends_take_no_threads_but_those_of_the_pool() {
    within(|| {
        let pool = pool(2, "waits");
        let services: Vec<_> = (0..50u64)
            .map(|_| {
                let (send, receive) = futures::channel::mpsc::unbounded::<u64>();
                (send, Stream::from_async(receive).pool(&pool).map(|n| n + 1).into_async())
            })
            .collect();
        let mut services: Vec<(_, AsyncItems<u64>)> = services;
        for round in 0..20 {
            for (n, (send, results)) in (round..).zip(&mut services) {
                send.unbounded_send(n).unwrap();
                assert_eq!(block_on(results.next()), Some(n + 1));
            }
        }
        if threads_named("") > 0 {
            assert!(comes_true(LIMIT / 2, || threads_named("waits") == 2));
        }
        for (send, results) in services {
            drop(send);
            assert_eq!(block_on(results.count()), 0);
        }
    });
}

#[test]
fn a_pool_of_one_thread_runs_them_too() {
    within(|| {
        let pool = pool(1, "alone");
        let (mut one, mut two) = (squares(&pool), squares(&pool));
        for n in 0..100 {
            one.0.send(n).unwrap();
            two.0.send(n + 1).unwrap();
            assert_eq!((one.1.next(), two.1.next()), (Some(n * n), Some((n + 1) * (n + 1))));
        }
    });
}

#[test]
fn all_items_come_in_order_however_fast_they_are_posted_and_taken() {
    within(|| {
        for (threads, window, capacity) in [(1, 1, 1), (2, 1, 0), (2, 2, 4), (3, 7, 16), (2, 4_096, 64)] {
            let pool = pool(threads, "order");
            let services: Vec<_> = (0..4)
                .map(|_| {
                    let (sender, stream) = Stream::channel(capacity);
                    let stream = stream.pool(&pool).window(window).map(|n: u64| n + 1).serial_map(|n| n * 2);
                    let results = stream.map(|n| n / 2).into_iter();
                    (thread::spawn(move || (0..400).try_for_each(|n| sender.send(n)).unwrap()), results)
                })
                .collect();
            for (poster, results) in services {
                assert!(results.eq(1..=400), "{threads} threads, a window of {window}");
                poster.join().unwrap();
            }
        }
    });
}

#[test]
fn the_stream_runs_ahead_of_its_reader_up_to_the_window() {
    within(|| {
        for window in [1, 2, 16, 200] {
            let pool = pool(2, "ahead");
            let asked = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&asked);
            let numbers = futures::stream::iter(0..10_000usize).inspect(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            });
            let mut results = Stream::from_async(numbers).pool(&pool).window(window).map(|n| n).into_iter();
            for taken in 0..50 {
                let ahead = asked.load(Ordering::SeqCst);
                assert!(
                    ahead <= taken + window,
                    "{ahead} items for {taken} results and a window of {window}"
                );
                assert_eq!(results.next(), Some(taken));
            }
            // It does run ahead.
            let least = 50 + (window / 2).max(1);
            assert!(comes_true(LIMIT / 2, || asked.load(Ordering::SeqCst) >= least));
        }
    });
}

#[test]
fn what_a_stage_makes_of_one_item_waits_for_the_reader() {
    within(|| {
        let pool = pool(2, "spread");
        let made = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&made);
        let (sender, stream) = Stream::channel(1);
        let many = stream.pool(&pool).window(8).serial_flat_map(move |n: usize| {
            let count = Arc::clone(&count);
            (0..n).inspect(move |_| _ = count.fetch_add(1, Ordering::SeqCst))
        });
        let mut results = many.into_iter();
        sender.send(1_000_000).unwrap();
        assert!((0..100).all(|n| results.next() == Some(n)));
        let bound = 100 + 4 * 8;
        assert!(comes_true(LIMIT / 2, || made.load(Ordering::SeqCst) > 100));
        assert!(made.load(Ordering::SeqCst) <= bound, "{made:?}");
        drop(results);
        assert_eq!(sender.send(1), Err(SendError(1)));
    });
}

#[test]
fn the_first_error_is_the_last_result() {
    within(|| {
        let pool = pool(2, "errors");
        let (sender, stream) = Stream::channel(16);
        let tried = stream.pool(&pool).try_map(|n: u32| if n == 5 { Err("five") } else { Ok(n) });
        let mut results = tried.into_iter();
        let posted = (0..10).take_while(|&n| sender.send(n).is_ok()).count();
        assert!(posted >= 6);
        assert!((0..5).all(|n| results.next() == Some(Ok(n))));
        assert_eq!((results.next(), results.next(), results.next()), (Some(Err("five")), None, None));
        assert_eq!(sender.send(10), Err(SendError(10)));

        let failing = futures::stream::iter([Ok(1), Err("two"), Ok(3)]);
        let stream = Stream::try_from_async(failing).pool(&pool).map(|n: u32| n).map_err(str::len);
        let results: Vec<_> = block_on_stream(stream.into_async()).collect();
        assert_eq!(results, [Ok(1), Err(3)]);
    });
}

#[test]
fn a_panic_comes_behind_the_results_before_it_wherever_it_is() {
    hush();
    within(|| {
        let pool = pool(2, "panics");
        let (sender, stream) = Stream::channel(16);
        let mut results =
            stream.pool(&pool).map(|n: u32| if n == 3 { panic!("planted: map") } else { n }).into_iter();
        (0..6).try_for_each(|n| sender.send(n)).ok();
        assert!((0..3).all(|n| results.next() == Some(n)));
        assert_eq!(message(&*panic_of(|| results.next())), "planted: map");
        assert_eq!(results.next(), None);

        let numbers =
            futures::stream::iter(0..10).map(|n| if n == 3 { panic!("planted: source") } else { n });
        let mut results =
            block_on_stream(Stream::from_async(numbers).pool(&pool).serial_map(|n| n).into_async());
        assert!((0..3).all(|n| results.next() == Some(n)));
        assert_eq!(message(&*panic_of(|| results.next())), "planted: source");

        // A state of a worker is dropped when the worker finds no work.
        struct Bad;
        impl Drop for Bad {
            fn drop(&mut self) {
                panic!("planted: state")
            }
        }
        let (sender, stream) = Stream::channel(16);
        let mut results = stream.pool(&pool).map_init(|| Bad, |_, n: u32| n).into_iter();
        sender.send(7).unwrap();
        let payload = panic_of(|| while results.next().is_some() {});
        assert_eq!(message(&*payload), "planted: state");

        // The pool goes on.
        let (sender, mut results) = squares(&pool);
        sender.send(3).unwrap();
        assert_eq!(results.next(), Some(9));
    });
}

#[test]
fn a_reader_that_goes_ends_the_stream_in_each_state_and_drops_its_data() {
    within(|| {
        let pool = pool(2, "drops");
        let drops = Drops::default();
        for state in 0..5 {
            let before = drops.count();
            let (captured, posted) = (drops.one(), drops.clone());
            let (sender, stream) = Stream::channel(200);
            let (entered, goes_on) = (Gate::default(), Gate::default());
            let (inside, waits) = (entered.clone(), goes_on.clone());
            let stage = move |item: Counted| {
                let _ = &captured;
                if state == 3 {
                    inside.open();
                    waits.pass();
                }
                item
            };
            let mut results = stream.pool(&pool).window(20).map(stage).into_iter();
            let mut made = 1;
            match state {
                // It has not begun, or waits for the first item.
                0 => {}
                // It waits for another item.
                1 => {
                    sender.send(posted.one()).unwrap();
                    drop(results.next());
                    made += 1;
                }
                // It waits for its reader.
                2 => {
                    (0..100).for_each(|_| sender.send(posted.one()).ok().unwrap());
                    made += 100;
                    drop(results.next());
                }
                // A stage runs.
                3 => {
                    sender.send(posted.one()).unwrap();
                    made += 1;
                    entered.pass();
                    goes_on.open();
                }
                // It is over.
                _ => {
                    sender.send(posted.one()).unwrap();
                    made += 1;
                    sender.close();
                    assert_eq!(results.by_ref().count(), 1);
                }
            }
            drop(results);
            assert_eq!(drops.count() - before, made, "state {state}");
            assert!(sender.send(drops.one()).is_err());
        }
    });
}

#[test]
fn an_asynchronous_reader_that_goes_ends_the_stream_and_does_not_wait() {
    within(|| {
        let pool = pool(2, "goes");
        let drops = Drops::default();
        for items in [0, 1, 100] {
            let before = drops.count();
            let (captured, posted) = (drops.one(), drops.clone());
            let (sender, stream) = Stream::channel(200);
            let stage = move |item: Counted| {
                let _ = &captured;
                item
            };
            let results = stream.pool(&pool).window(20).map(stage).into_async();
            (0..items).for_each(|_| sender.send(posted.one()).ok().unwrap());
            drop(results);
            assert!(comes_true(LIMIT / 2, || drops.count() - before == 1 + items));
            assert!(sender.send(drops.one()).is_err());
        }
    });
}

#[test]
fn the_last_share_of_the_pool_may_be_the_streams() {
    within(|| {
        for _ in 0..100 {
            let pool = pool(2, "last");
            let (sender, stream) = Stream::channel(4);
            let results = stream.pool(pool).map(|n: u32| n).into_async();
            sender.send(1).unwrap();
            drop(results); // a thread of the pool drops the last share
        }
        assert!(comes_true(LIMIT / 2, || threads_named("last") == 0));
        for n in 0..100 {
            let (sender, mut results) = squares(&pool(2, "last"));
            sender.send(n).unwrap();
            assert_eq!(results.next(), Some(n * n));
        }
        assert!(comes_true(LIMIT / 2, || threads_named("last") == 0));
    });
}

#[test]
fn tokens_stop_and_pause_a_stream_that_has_no_thread() {
    within(|| {
        let pool = pool(2, "tokens");
        let start = |token: &CancelToken| {
            let (sender, stream) = Stream::channel(16);
            (sender, stream.pool(&pool).cancel_by(token).map(|n: u32| n).into_iter())
        };
        let token = CancelToken::new();
        let (sender, mut results) = start(&token);
        sender.send(1).unwrap();
        assert_eq!(results.next(), Some(1));
        token.pause();
        (2..5).for_each(|n| sender.send(n).unwrap());
        token.resume();
        assert_eq!(results.by_ref().take(3).last(), Some(4));
        sender.send(5).unwrap();
        token.drain();
        assert_eq!(sender.send(6), Err(SendError(6)));
        assert_eq!(results.collect::<Vec<_>>(), [5]);
        let stopped = token.wait(LIMIT).unwrap();
        assert_eq!((stopped.delivered, stopped.dropped), (5, 0));

        let token = CancelToken::new();
        let (sender, mut results) = start(&token);
        let canceller = {
            let token = token.clone();
            thread::spawn(move || token.cancel())
        };
        assert_eq!(results.next(), None);
        canceller.join().unwrap();
        assert_eq!(sender.send(1), Err(SendError(1)));
        token.pause();
        assert_eq!(start(&token).1.next(), None); // it was cancelled before it began
    });
}

#[test]
fn streams_that_wait_for_each_other_go_on() {
    // Each stage of one stream posts to the next stream and waits for its answer: all threads of the pool wait.
    for threads in [1, 2, 3, 1, 2, 3] {
        within(move || wait_for_each_other(threads));
    }
}

fn wait_for_each_other(threads: usize) {
    let pool = pool(threads, "waiting");
    let (sender, inner) = Stream::channel(1);
    let inner = inner.pool(&pool).map(|(n, answer): (u64, mpsc::Sender<u64>)| answer.send(n + 1)).into_iter();
    let inner = thread::spawn(move || inner.filter(Result::is_ok).count());
    let outer: Vec<_> = (0..4u64)
        .map(|k| {
            let (start, requests) = Stream::channel(8);
            let sender = sender.clone();
            let asks = move |n: u64| {
                let (answer, answered) = mpsc::channel();
                sender.send((n, answer)).unwrap();
                answered.recv().unwrap()
            };
            let results = requests.pool(&pool).map(asks).into_iter();
            (0..8).for_each(|n| start.send(100 * k + n).unwrap());
            results
        })
        .collect();
    drop(sender);
    for (k, results) in (0..).zip(outer) {
        assert_eq!(results.collect::<Vec<_>>(), (1..=8).map(|n| 100 * k + n).collect::<Vec<_>>());
    }
    assert_eq!(inner.join().unwrap(), 32);
    drop(pool);
    if threads_named("") > 0 {
        assert!(comes_true(LIMIT / 2, || threads_named("waiting") == 0));
    }
}

#[test]
fn a_stage_may_read_another_such_stream() {
    within(|| {
        for threads in 1..=3 {
            let pool = pool(threads, "inside");
            let (sender, stream) = Stream::channel(4);
            let shared = Arc::clone(&pool);
            let sums = move |n: u64| {
                let numbers = futures::stream::iter(0..n);
                Stream::from_async(numbers).pool(&shared).map(|m| m * m).into_iter().sum::<u64>()
            };
            let results = stream.pool(&pool).map(sums).into_iter();
            thread::spawn(move || (0..6).try_for_each(|n| sender.send(n)));
            assert_eq!(results.collect::<Vec<_>>(), [0, 0, 1, 5, 14, 30]);
        }
    });
}

#[test]
fn one_such_stream_is_the_source_of_another() {
    within(|| {
        let pool = pool(2, "chain");
        let (sender, stream) = Stream::channel(4);
        let mut last = stream.pool(&pool).map(|n: u64| n + 1).into_async();
        for _ in 0..20 {
            last = Stream::from_async(last).pool(&pool).map(|n| n + 1).into_async();
        }
        let poster = thread::spawn(move || (0..500).try_for_each(|n| sender.send(n)));
        assert!(block_on_stream(last).eq(21..521));
        poster.join().unwrap().unwrap();
        if threads_named("") > 0 {
            assert!(comes_true(LIMIT / 2, || threads_named("chain") == 2));
        }
    });
}

#[test]
fn runs_with_a_caller_and_such_streams_share_a_pool() {
    within(|| {
        let pool = pool(3, "mixed");
        let (sender, mut results) = squares(&pool);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for n in 0..50u64 {
                        let sum =
                            Stream::from_iter(0..n * 20).pool(&pool).map(|m| m).fold(0, |sum, m| sum + m);
                        assert_eq!(sum, (0..n * 20).sum::<u64>());
                    }
                });
            }
            for n in 0..500 {
                sender.send(n).unwrap();
                assert_eq!(results.next(), Some(n * n));
            }
        });
    });
}

#[test]
fn a_busy_stream_does_not_keep_the_threads_from_the_others() {
    within(|| {
        let pool = pool(2, "busy");
        let endless = futures::stream::iter(0u64..);
        let is_over = Arc::new(AtomicBool::new(false));
        let busy: Vec<_> = (0..4)
            .map(|_| {
                let results = Stream::from_async(endless.clone()).pool(&pool).map(|n| n).into_iter();
                let is_over = Arc::clone(&is_over);
                thread::spawn(move || results.take_while(|_| !is_over.load(Ordering::Relaxed)).count())
            })
            .collect();
        let (sender, mut results) = squares(&pool);
        for n in 0..200 {
            sender.send(n).unwrap();
            assert_eq!(results.next(), Some(n * n));
        }
        assert!(busy.iter().all(|thread| !thread.is_finished()));
        is_over.store(true, Ordering::Relaxed);
        for thread in busy {
            thread.join().unwrap();
        }
    });
}

#[test]
fn streams_that_need_a_thread_have_one() {
    within(|| {
        let pool = pool(2, "needs");
        // A source that blocks, a dedicated stage, and a stream that runs inline.
        let blocking = Stream::from_iter(0..100u64).pool(&pool).map(|n| n + 1).into_iter();
        assert_eq!(blocking.sum::<u64>(), 5_050);
        for shape in 0..3 {
            let (sender, stream) = Stream::channel(4);
            let stream = stream.pool(&pool);
            let results = match shape {
                0 => stream.dedicated().serial_map(|n: u64| n).map(|n| n).into_iter(),
                1 => stream.inline().serial_map(|n| n).into_iter(),
                _ => stream.with_plan(|plan| plan.settings.wait = Wait::Spin).serial_map(|n| n).into_iter(),
            };
            (0..4).for_each(|n| sender.send(n).unwrap());
            drop(sender);
            assert_eq!(results.collect::<Vec<_>>(), [0, 1, 2, 3]);
        }
    });
}

#[test]
fn progress_and_with_plan_work_as_elsewhere() {
    within(|| {
        let pool = pool(2, "settings");
        let seen = Arc::new(Mutex::new(0));
        let last = Arc::clone(&seen);
        let (sender, stream) = Stream::channel(100);
        let stream =
            stream.pool(&pool).watch(Watch::progress(move |progress| *last.lock().unwrap() = progress.items));
        let results = stream.map(|n: u32| n).with_plan(|plan| plan.domains[0].window = 3).into_iter();
        (0..100).for_each(|n| sender.send(n).unwrap());
        drop(sender);
        assert_eq!(results.count(), 100);
        assert_eq!(*seen.lock().unwrap(), 100);
    });
}

#[test]
fn a_stage_may_stop_the_stream() {
    within(|| {
        let pool = pool(2, "take");
        let (sender, stream) = Stream::channel(4);
        let results = stream.pool(&pool).take(3).map(|n: u32| n).into_iter();
        let posted = (0..).map(|n| sender.send(n)).take_while(Result::is_ok).count();
        assert!(posted >= 3);
        assert_eq!(results.collect::<Vec<_>>(), [0, 1, 2]);
        let none = Stream::from_async(futures::stream::pending::<u32>()).pool(&pool).take(0).into_iter();
        assert_eq!(none.count(), 0);
    });
}
