//! A stream of a channel that is shut down: what was accepted is handled, or given back, or counted as dropped (C6).

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::contract_support::random;
use crate::contract_support::watchdog::{Gate, LIMIT, comes_true, stays_true, within};
use anabranch::{CancelToken, Pool, SendError, Sender, Stopped, Stream, TrySendError};
use proptest::prelude::*;

#[test]
fn a_drained_stream_handles_what_its_channel_has_accepted() {
    within(|| {
        for workers in 1..=3 {
            let (entered, goes_on) = (Gate::default(), Gate::default());
            let (token, handled) = (CancelToken::new(), AtomicUsize::new(0));
            let (sender, stream) = Stream::channel(10);
            let accepted = thread::scope(|scope| {
                let stream = stream.cancel_by(&token).workers(workers).window(4).map(|n: u32| {
                    entered.open();
                    goes_on.pass();
                    n
                });
                let run = scope.spawn(|| {
                    stream.for_each(|_| {
                        handled.fetch_add(1, Ordering::SeqCst);
                    })
                });
                sender.send(0).unwrap();
                entered.pass();
                // Some enter the window, and the others wait in the queue.
                let accepted = 1 + (1..15).filter(|&n| sender.try_send(n).is_ok()).count();
                token.drain();
                assert_eq!(sender.send(100), Err(SendError(100)));
                assert_eq!(sender.try_send(101), Err(TrySendError::Closed(101)));
                assert_eq!(token.wait(Duration::ZERO), None);
                goes_on.open();
                run.join().unwrap();
                accepted
            });
            assert!(accepted >= 10, "{accepted} were accepted");
            assert_eq!(handled.into_inner(), accepted);
            let stopped = Stopped { delivered: accepted as u64, dropped: 0 };
            assert_eq!(token.wait(LIMIT), Some(stopped));
        }
    });
}

#[test]
fn posting_threads_that_wait_for_room_get_their_items_back_when_the_channel_closes() {
    within(|| {
        for (capacity, drains) in [(0, false), (2, false), (0, true), (2, true)] {
            let (sender, stream) = Stream::channel(capacity);
            let token = CancelToken::new();
            let stream = stream.cancel_by(&token);
            (0..capacity).for_each(|n| sender.send(n).unwrap());
            let (began, waiting) = (Gate::default(), sender.clone());
            let accepted = thread::scope(|scope| {
                let late = scope.spawn(|| {
                    began.open();
                    (0..50).filter(|&n| waiting.send(100 + n).is_ok()).count()
                });
                began.pass();
                if drains {
                    token.drain()
                } else {
                    sender.close()
                }
                let seen = stream.inline().count();
                assert!(sender.is_closed());
                (seen, capacity + late.join().unwrap())
            });
            assert_eq!(accepted.0, accepted.1);
        }
    });
}

#[test]
fn what_a_failed_stream_left_can_be_had_back() {
    within(|| {
        for keeps in [false, true] {
            let (sender, stream) = Stream::channel(16);
            if keeps {
                sender.keep_unhandled();
            }
            let alive = Arc::new(());
            (0..10).for_each(|n| sender.send((n, Arc::clone(&alive))).unwrap());
            let mut seen = Vec::new();
            let result = stream.workers(2).window(1).try_for_each(|(n, _)| {
                seen.push(n);
                if n == 3 { Err("three") } else { Ok(()) }
            });
            assert_eq!((seen, result), (vec![0, 1, 2, 3], Err("three")));
            assert!(matches!(sender.send((11, Arc::clone(&alive))), Err(SendError((11, _)))));
            let left: Vec<u32> = sender.take_back().into_iter().map(|(n, _)| n).collect();
            // At most one more was in flight.
            assert!(!keeps || left.ends_with(&[5, 6, 7, 8, 9]), "{left:?}");
            assert!(keeps || left.is_empty(), "{left:?}");
            assert_eq!(Arc::strong_count(&alive), 1);
        }
    });
}

#[test]
fn a_paused_stream_gives_what_it_has_and_then_waits_until_it_is_resumed_or_ended() {
    within(|| {
        for workers in 0..=3 {
            for ending in 0..3 {
                let token = CancelToken::new();
                let (asked, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let source = (0..10_000).inspect(|_| {
                    asked.fetch_add(1, Ordering::SeqCst);
                });
                let stream =
                    Stream::from_iter(source).cancel_by(&token).window(8).map(|n| n).serial_map(|n| n);
                let stream = if workers == 0 { stream.inline() } else { stream.workers(workers) };
                let count = thread::scope(|scope| {
                    let run = scope.spawn(|| {
                        stream.map(|n| n).fold(0, |count, n| {
                            seen.fetch_add(1, Ordering::SeqCst);
                            if n == 100 {
                                token.pause();
                            }
                            count + 1
                        })
                    });
                    assert!(comes_true(LIMIT, || token.is_paused()));
                    // Everything that was given arrives, and no more is asked for.
                    let all_seen = || asked.load(Ordering::SeqCst) == seen.load(Ordering::SeqCst);
                    assert!(stays_true(|| !run.is_finished()));
                    assert!(comes_true(LIMIT, all_seen));
                    assert!(asked.load(Ordering::SeqCst) < 10_000);
                    match ending {
                        0 => token.resume(),
                        1 => token.drain(),
                        _ => token.cancel(),
                    }
                    run.join().unwrap()
                });
                assert_eq!(count == 10_000, ending == 0, "{count} after ending {ending}");
                assert_eq!(count, seen.into_inner());
            }
        }
    });
}

/// The cause of the end of a random service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Every post is dropped.
    Drop,
    Close,
    Drain,
    Cancel,
    /// A drain, and a cancellation soon after it.
    Deadline,
    /// The channel is closed, what waits is taken back, and the run is cancelled.
    TakeBack,
}

#[derive(Debug, Clone)]
struct Service {
    posters: usize,
    each: u32,
    capacity: usize,
    window: usize,
    workers: usize,
    shape: u8,
    /// The end comes once this many items were handled.
    after: usize,
    ending: Ending,
    tries: bool,
    pauses: u64,
    /// The end comes when every item was handled and the source waits.
    idles: bool,
}

fn services() -> impl Strategy<Value = Service> {
    use Ending::{Cancel, Close, Deadline, Drain, Drop, TakeBack};
    let ending = prop::sample::select(vec![Drop, Close, Drain, Drain, Cancel, Deadline, TakeBack]);
    let sizes = (1..4usize, 1..60u32, 0..9usize, 1..9usize, 1..4usize);
    (sizes, 0..6u8, 0..60usize, ending, any::<bool>(), 0..40u64, prop::bool::weighted(0.2)).prop_map(
        |((posters, each, capacity, window, workers), shape, after, ending, tries, pauses, idles)| Service {
            posters,
            each,
            capacity,
            window,
            workers,
            shape,
            after,
            ending,
            tries,
            pauses,
            idles,
        },
    )
}

type Item = (usize, u32);

/// Posts items of one thread until the channel is closed. Gives those that were accepted.
fn posts(service: &Service, poster: usize, sender: &Sender<Item>, over: &AtomicBool) -> Vec<Item> {
    let mut accepted = Vec::new();
    for number in 0..service.each {
        let mut item = (poster, number);
        let posted = loop {
            if !service.tries {
                break sender.send(item).map_err(|SendError(item)| item);
            }
            match sender.try_send(item) {
                Ok(()) => break Ok(()),
                Err(TrySendError::Closed(item)) => break Err(item),
                Err(TrySendError::Full(back)) => item = back,
            }
            thread::yield_now();
        };
        match posted {
            Ok(()) => accepted.push((poster, number)),
            Err(back) => {
                assert_eq!(back, (poster, number));
                break;
            }
        }
        if over.load(Ordering::Relaxed) && service.ending == Ending::Drop {
            break;
        }
    }
    accepted
}

/// Runs a service, and checks what became of its items.
fn runs(service: &Service, pool: &Pool) {
    let (sender, stream) = Stream::channel(service.capacity);
    let (token, over) = (CancelToken::new(), AtomicBool::new(false));
    let handled = AtomicUsize::new(0);
    let (mut seen, mut left) = (Vec::new(), Vec::new());
    let accepted: Vec<Vec<Item>> = thread::scope(|scope| {
        let posters: Vec<_> = (0..service.posters)
            .map(|poster| {
                let (sender, over) = (sender.clone(), &over);
                scope.spawn(move || posts(service, poster, &sender, over))
            })
            .collect();
        let stopper = scope.spawn(|| {
            let all_posted = || posters.iter().all(thread::ScopedJoinHandle::is_finished);
            if service.idles {
                let all = service.posters * service.each as usize;
                assert!(comes_true(LIMIT / 2, || handled.load(Ordering::SeqCst) == all), "an item was lost");
                thread::sleep(Duration::from_micros(300));
            }
            while handled.load(Ordering::SeqCst) < service.after && !all_posted() {
                thread::yield_now();
            }
            over.store(true, Ordering::Relaxed);
            let sender = sender;
            match service.ending {
                Ending::Drop => {}
                Ending::Close => sender.close(),
                Ending::Drain => token.drain(),
                Ending::Cancel => token.cancel(),
                Ending::Deadline => {
                    token.drain();
                    token.wait(Duration::from_micros(service.pauses));
                    token.cancel();
                }
                Ending::TakeBack => {
                    sender.close();
                    left = sender.take_back();
                    token.cancel();
                }
            }
            // Except where its drop is the end, the last post lives for as long as the run.
            let sender = (service.ending != Ending::Drop).then_some(sender);
            (posters.into_iter().map(|poster| poster.join().unwrap()).collect(), sender)
        });
        let work = |item: Item| {
            if item.1.is_multiple_of(7) {
                thread::sleep(Duration::from_micros(service.pauses));
            }
            item
        };
        let sees = |item| {
            handled.fetch_add(1, Ordering::SeqCst);
            seen.push(item);
        };
        let stream = stream.window(service.window).workers(service.workers).cancel_by(&token);
        match service.shape {
            0 => stream.for_each(sees),
            1 => stream.map(work).for_each(sees),
            2 => stream.map(work).serial_map(work).map(work).for_each(sees),
            3 => stream.pool(pool).map(work).for_each(sees),
            4 => stream.serial_flat_map(|item| [item]).map(work).for_each(sees),
            _ => stream.inline().map(work).for_each(sees),
        }
        stopper.join().unwrap().0
    });
    let all: Vec<Item> = accepted.into_iter().flatten().collect();
    let is_seen: HashSet<Item> = seen.iter().chain(&left).copied().collect();
    assert_eq!(is_seen.len(), seen.len() + left.len(), "an item came twice");
    assert!(is_seen.iter().all(|item| all.contains(item)), "an item that was refused came");
    // The items of each thread keep their order.
    for poster in 0..service.posters {
        assert!(seen.iter().filter(|item| item.0 == poster).is_sorted(), "out of order: {seen:?}");
    }
    if matches!(service.ending, Ending::Drop | Ending::Close | Ending::Drain) {
        assert_eq!(seen.len(), all.len(), "an accepted item was lost");
    }
    if let Some(Stopped { delivered, dropped }) = token.stopped() {
        assert_eq!((delivered, delivered + dropped), (seen.len() as u64, all.len() as u64));
    }
}

#[test]
fn random_services_account_for_every_item_that_they_accepted() {
    random::within(300, |config| {
        let pool = Pool::new(2);
        random::for_all(config, services(), |service| {
            runs(&service, &pool);
            Ok(())
        });
    });
}
