//! Items that are posted to a stream from outside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use crate::contract_support::watchdog::{LIMIT, comes_true, message, panic_of, stays_true, within};
use anabranch::{CancelToken, SendError, Stream, TrySendError};

#[test]
fn items_of_many_posts_all_arrive_each_ones_in_its_order() {
    for capacity in [0, 1, 16] {
        let sums = within(move || {
            let (sender, stream) = Stream::channel(capacity);
            let threads: Vec<_> = (0..3)
                .map(|poster| (poster, sender.clone()))
                .map(|(poster, sender)| {
                    thread::spawn(move || (0..500).try_for_each(|n| sender.send((poster, n))))
                })
                .collect();
            drop(sender);
            let mut next = [0; 3];
            stream.workers(2).map(|item| item).for_each(|(poster, n): (usize, u32)| {
                assert_eq!(n, next[poster]);
                next[poster] += 1;
            });
            threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
            next
        });
        assert_eq!(sums, [500; 3]);
    }
}

#[test]
fn so_many_wait_as_there_is_room_for() {
    let (sender, stream) = Stream::channel(2);
    assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Ok(())));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    drop(stream);
    assert_eq!(sender.try_send(3), Err(TrySendError::Closed(3)));
    assert_eq!(sender.send(4), Err(SendError(4)));
}

#[test]
fn without_room_an_item_is_taken_before_its_post_returns_or_comes_back() {
    within(|| {
        let (sender, stream) = Stream::channel(0);
        assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
        let waits = {
            let sender = sender.clone();
            thread::spawn(move || sender.send(1))
        };
        // The item waits in the queue, and the source does not take it.
        assert!(stays_true(|| !waits.is_finished()));
        drop(stream);
        assert_eq!(waits.join().unwrap(), Err(SendError(1)));

        let (sender, stream) = Stream::channel(0);
        let mut items = stream.map(|n| n + 1).into_iter();
        assert_eq!(sender.send(1), Ok(()));
        assert_eq!(items.next(), Some(2));
        // The source asks for the next item after a while.
        assert!(comes_true(LIMIT / 2, || sender.try_send(2) == Ok(())));
        assert_eq!(items.next(), Some(3));
    });
}

#[test]
fn a_failure_ends_the_stream_while_nothing_is_posted() {
    for workers in 1..=3 {
        let (seen, result) = within(move || {
            let (sender, stream) = Stream::channel(4);
            (0..3).for_each(|n| sender.send(n).unwrap());
            let mut seen = Vec::new();
            let failing = stream.workers(workers).try_map(|n| if n == 2 { Err("two") } else { Ok(n) });
            let result = failing.for_each(|n| seen.push(n));
            assert_eq!(sender.send(3), Err(SendError(3)));
            (seen, result)
        });
        assert_eq!((seen, result), (vec![0, 1], Err("two")));
    }
}

#[test]
fn a_panic_and_a_break_end_the_stream_while_nothing_is_posted() {
    within(|| {
        let (sender, stream) = Stream::channel(4);
        sender.send(0).unwrap();
        let payload = panic_of(|| stream.for_each(|n| panic!("item {n}")));
        assert_eq!(message(&*payload), "item 0");

        let (sender, stream) = Stream::channel(4);
        (0..3).for_each(|n| sender.send(n).unwrap());
        assert_eq!(stream.find(|&n| n == 1), Some(1));
        drop(sender);
    });
}

#[test]
fn a_token_ends_the_stream_while_nothing_is_posted() {
    for is_inline in [false, true] {
        within(move || {
            let (sender, stream) = Stream::channel(4);
            (0..3).for_each(|n| sender.send(n).unwrap());
            let token = CancelToken::new();
            let stream = stream.cancel_by(&token).inspect(|&n| {
                if n == 2 {
                    token.drain()
                }
            });
            let stream = if is_inline { stream.inline() } else { stream };
            assert_eq!(stream.count(), 3);
            drop(sender);

            let (sender, stream) = Stream::<_>::channel(4);
            let token = CancelToken::new();
            let canceller = {
                let token = token.clone();
                thread::spawn(move || {
                    thread::sleep(Duration::from_micros(300)); // until the source sleeps
                    token.cancel();
                })
            };
            let stream = stream.cancel_by(&token).map(|n: u32| n);
            assert_eq!(if is_inline { stream.inline() } else { stream }.count(), 0);
            canceller.join().unwrap();
            drop(sender);
        });
    }
}

#[test]
fn a_stream_that_is_cancelled_while_its_source_waits_drops_what_stages_keep() {
    for is_inline in [false, true] {
        within(move || {
            let (sender, stream) = Stream::channel(4);
            let token = CancelToken::new();
            (0..3).for_each(|n| sender.send(n).unwrap());
            let canceller = {
                let token = token.clone();
                thread::spawn(move || {
                    thread::sleep(Duration::from_millis(1)); // until the source sleeps
                    token.cancel();
                })
            };
            let stream = stream.cancel_by(&token).chunks(5);
            let chunks: Vec<Vec<u32>> = if is_inline { stream.inline() } else { stream }.collect();
            assert!(chunks.is_empty(), "{chunks:?}");
            canceller.join().unwrap();
            drop(sender);
        });
    }
}

#[test]
fn what_reads_the_results_may_go_while_nothing_is_posted() {
    within(|| {
        let (sender, stream) = Stream::channel(4);
        let mut items = stream.map(|n| n + 1).into_iter();
        sender.send(1).unwrap();
        assert_eq!(items.next(), Some(2));
        drop(items);
        assert_eq!(sender.send(2), Err(SendError(2)));

        let (sender, stream) = Stream::channel(4);
        sender.send(1).unwrap();
        assert_eq!(stream.map(|n| n + 1).with_iter(|items| items.next()), Some(2));

        let (sender, stream) = Stream::channel(4);
        sender.send(1).unwrap();
        let read = AssertUnwindSafe(|| stream.map(|n| n + 1).with_iter(|_| panic!("reader")));
        assert_eq!(catch_unwind(read).unwrap_err().downcast_ref(), Some(&"reader"));
    });
}
