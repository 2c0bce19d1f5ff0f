//! Reports on programs that do the same job, replayed here. Each test names where it was reported.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use anabranch::{CancelToken, Items, Offload, Pool, Sender, Stream};
use anabranch_network::Network;

use crate::contract_support::watchdog::{LIMIT, comes_true, message, panic_of, within};

/// Counts how many of it exist.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Items that wait are dropped with the stream, while a `Sender` lives (rust-lang/rust#107466, crossbeam-rs/crossbeam#1102).
#[test]
fn items_that_wait_are_dropped_with_their_stream() {
    within(|| {
        for (capacity, ends) in [(1, 0), (4, 0), (4, 1), (4, 2), (4, 3)] {
            let alive = Arc::<AtomicUsize>::default();
            let (sender, stream) = Stream::channel(capacity);
            (0..capacity).for_each(|_| assert!(sender.send(Counted::new(&alive)).is_ok()));
            match ends {
                0 => drop(stream),
                1 => _ = panic_of(|| stream.inline().for_each(|_| panic!("expected"))),
                2 => drop(stream.pool(Arc::new(Pool::new(2))).map(|item| item).into_iter()),
                _ => assert!(stream.workers(2).map(|_| Err::<(), _>("no")).try_map(|n| n).count().is_err()),
            }
            assert!(
                comes_true(LIMIT, || alive.load(Ordering::SeqCst) == 0),
                "capacity {capacity}, end {ends}"
            );
            assert!(sender.send(Counted::new(&alive)).is_err());
        }
    });
}

/// An item that has a `Sender` of its own stream is dropped without a deadlock (tokio-rs/tokio#1886).
#[test]
fn items_may_own_a_post_of_their_own_stream() {
    struct Owner {
        _post: Sender<Owner>,
    }
    within(|| {
        for ends in 0..4 {
            let (sender, stream) = Stream::<Owner>::channel(4);
            (0..3).for_each(|_| assert!(sender.send(Owner { _post: sender.clone() }).is_ok()));
            match ends {
                0 => drop(stream),
                1 => drop(stream.pool(Arc::new(Pool::new(2))).map(|item| item).into_iter()),
                2 => assert_eq!(stream.workers(2).map(|item| item).take(1).count(), 1),
                _ => drop(sender.take_back()),
            }
            drop(sender);
        }
    });
}

/// A source or a stage that runs streams on the pool of its own stream (rayon-rs/rayon#592, #690 and #1142).
#[test]
fn sources_and_stages_may_use_the_pool_that_runs_them() {
    within(|| {
        for threads in 1..4 {
            let pool = Arc::new(Pool::new(threads));
            let inner = |n: u64| Stream::from_iter(0..n % 20).pool(&pool).map(|n| n + 1).sum::<u64>();
            let expected: u64 = (0..60).map(|n| (1..=n % 20).sum::<u64>()).sum();
            assert_eq!(Stream::from_iter((0..60).map(inner)).pool(&pool).map(|n| n).sum::<u64>(), expected);
            assert_eq!(Stream::from_iter(0..60).pool(&pool).map(inner).sum::<u64>(), expected);
            assert_eq!(
                Stream::from_iter(0..60).pool(&pool).serial_map(inner).map(|n| n).sum::<u64>(),
                expected
            );
        }
    });
}

/// A stage without a thread of its own waits for such a stream on the same pool (rayon-rs/rayon#904 and #967).
#[test]
fn a_task_may_wait_for_others_of_a_pool_that_is_full() {
    within(|| {
        let pool = Arc::new(Pool::new(1));
        let deeper = Arc::clone(&pool);
        let posted = |items: u64, pool: &Arc<Pool>| {
            let (sender, stream) = Stream::channel(items.max(1) as usize);
            (0..items).for_each(|n| sender.send(n).unwrap());
            stream.pool(pool)
        };
        let sums = posted(4, &pool).map(move |n| posted(n, &deeper).map(|n| n + 1).into_iter().sum::<u64>());
        assert_eq!(sums.into_iter().collect::<Vec<_>>(), [0, 1, 3, 6]);
    });
}

/// A failure ends a stream whose source waits for a post (uxlfoundation/oneTBB#406).
#[test]
fn a_failure_ends_a_stream_whose_source_waits() {
    within(|| {
        for workers in 1..4 {
            let (sender, stream) = Stream::channel(4);
            sender.send(1).unwrap();
            assert_eq!(stream.workers(workers).try_map(|n: u8| Err::<u8, _>(n)).count(), Err(1));
            assert!(sender.is_closed());
            let (sender, stream) = Stream::channel(4);
            sender.send(1).unwrap();
            let text =
                panic_of(|| stream.workers(workers).map(|_: u8| -> u8 { panic!("expected") }).for_each(drop));
            assert_eq!(message(&*text), "expected");
            drop(sender);
        }
    });
}

/// Workers of a farm, which is a semaphore, are free again after failures (taskflow/taskflow#479 and #730).
#[test]
fn a_farm_ends_after_failures_of_its_workers() {
    within(|| {
        for workers in 1..4 {
            for at in [0, 1, 7, 99] {
                let farm = (0..workers).map(|_| move |n: u64| if n == at { Err(n) } else { Ok(n) });
                let run = Stream::from_iter(0..100u64).workers(workers).try_farm(farm.collect::<Vec<_>>());
                let mut seen = Vec::new();
                assert_eq!(run.for_each(|n| seen.push(n)), Err(at));
                assert_eq!(seen, (0..at).collect::<Vec<_>>());
            }
        }
    });
}

/// A process that has reserved slots and panics does not leave its reader waiting (crossbeam-rs/crossbeam-channel#30).
#[test]
fn reserved_slots_of_a_process_that_panics_are_given_up() {
    within(|| {
        let mut net = Network::<String>::new().workers(2);
        let (mut give, take) = net.record::<u64>(8);
        net.process("source", move |_| {
            give.push(1).unwrap();
            let _slots = give.stall(4).unwrap();
            panic!("expected");
        });
        net.process("sink", |_| {
            take.into_iter().for_each(drop);
            Ok(())
        });
        assert_eq!(message(&*panic_of(|| net.run())), "expected");
    });
}

/// The pool, the iterator and the posts of a stream are dropped in any order, on any thread, also on one of the pool
/// (tokio-rs/tokio#1948 and #2046).
#[test]
fn pools_iterators_and_posts_are_dropped_in_any_order() {
    within(|| {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for (number, order) in orders.into_iter().enumerate() {
            let pool = Arc::new(Pool::new(2));
            let (sender, stream) = Stream::channel(4);
            let items: Items<u64> = stream.pool(&pool).map(|n| n + 1).into_iter();
            sender.send(1u64).unwrap();
            let parts: Vec<Box<dyn FnOnce() + Send>> =
                vec![Box::new(|| drop(pool)), Box::new(|| drop(items)), Box::new(|| drop(sender))];
            let mut parts: Vec<_> = parts.into_iter().map(Some).collect();
            let ordered = order.map(|at| parts[at].take().unwrap());
            match number % 2 {
                0 => ordered.into_iter().for_each(|part| part()),
                _ => {
                    // On a thread of another pool, by its tasks.
                    let mut farm = Offload::start(1, 4, |part: Box<dyn FnOnce() + Send>| part());
                    ordered.into_iter().for_each(|part| farm.offload(part));
                    while farm.get().is_some() {}
                }
            }
        }
        // The last share of a pool is dropped by a stage that this pool runs.
        let pool = Arc::new(Pool::new(2));
        let (sender, stream) = Stream::channel(1);
        let share = Mutex::new(Some(Arc::clone(&pool)));
        let items = stream.pool(&pool).map(move |n: u64| {
            drop(share.lock().unwrap().take());
            n
        });
        let mut items = items.into_iter();
        drop(pool);
        sender.send(3).unwrap();
        assert_eq!(items.next(), Some(3));
        drop(sender);
        assert_eq!(items.next(), None);
    });
}

/// A token that is used within the functions of its own run, and by the drop of an item (uxlfoundation/oneTBB#884).
#[test]
fn a_token_stops_its_run_from_within_and_from_the_drop_of_an_item() {
    struct Stops(CancelToken);
    impl Drop for Stops {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }
    within(|| {
        for workers in 1..4 {
            let token = CancelToken::new();
            let stream = Stream::from_iter(0..).workers(workers).cancel_by(&token);
            let count = stream.map(|n: u64| (n == 50).then(|| Stops(token.clone()))).count();
            assert!(count < 10_000 && token.is_stopping(), "{count}");
            assert!(token.wait(Duration::from_secs(60)).is_some());
        }
    });
}

/// A stream of the results of a stream that has panicked goes on with nothing, and its caller gets the panic once
/// (uxlfoundation/oneTBB#253).
#[test]
fn a_panic_passes_through_streams_of_streams_once() {
    within(|| {
        let (told, heard) = mpsc::channel();
        let inner =
            Stream::from_iter(0..100u64).workers(2).map(|n| if n == 30 { panic!("expected") } else { n });
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let outer = Stream::from_iter(inner).workers(2).map(|n| n + 1);
            outer.for_each(|n| told.send(n).unwrap());
        }));
        assert_eq!(message(&*ended.unwrap_err()), "expected");
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), (1..=30).collect::<Vec<_>>());
    });
}
