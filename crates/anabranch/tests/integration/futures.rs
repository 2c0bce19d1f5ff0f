//! Asynchronous streams as sources and as ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use crate::contract_support::watchdog::{Gate, within};
use anabranch::{CancelToken, Stream};
use futures::StreamExt;
use futures::executor::block_on_stream;
use futures::stream::poll_fn;

#[test]
fn a_source_that_is_pending_is_polled_again_when_it_wakes() {
    within(|| {
        let mut n = 0;
        let mut is_ready = false;
        let source = poll_fn(move |context| {
            is_ready = !is_ready;
            if !is_ready {
                let waker = context.waker().clone();
                std::thread::spawn(move || waker.wake());
                return Poll::Pending;
            }
            n += 1;
            Poll::Ready((n <= 100).then_some(n))
        });
        let sum = Stream::from_async(source).map(|n| 2 * n).fold(0, |sum, n| sum + n);
        assert_eq!(sum, 10_100);
    });
}

#[test]
fn results_come_in_order_and_the_first_error_is_the_last() {
    within(|| {
        let stream =
            Stream::from_iter(0..100).workers(3).try_map(|n| if n == 50 { Err("fifty") } else { Ok(n) });
        let mut results: Vec<_> = block_on_stream(stream.into_async()).collect();
        assert_eq!(results.pop(), Some(Err("fifty")));
        assert_eq!(results, (0..50).map(Ok).collect::<Vec<_>>());
    });
}

#[test]
fn work_goes_on_while_the_reader_is_busy_up_to_the_window() {
    within(|| {
        let done = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&done);
        let stream = Stream::from_iter(0..1_000).window(16).workers(2).inspect(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        });
        let mut items = block_on_stream(stream.into_async());
        assert_eq!(items.next(), Some(0));
        // The reader is busy, and meanwhile the stream fills the window.
        while done.load(Ordering::SeqCst) < 10 {
            std::thread::yield_now();
        }
        assert!(done.load(Ordering::SeqCst) <= 18);
        assert_eq!(items.sum::<i32>(), 499_500);
    });
}

#[test]
fn dropping_the_reader_stops_the_stream() {
    within(|| {
        let token = Arc::new(());
        let held = Arc::clone(&token);
        let mut items =
            block_on_stream(Stream::from_iter(0..).map(move |n| (n, Arc::clone(&held))).into_async());
        assert_eq!(items.next().map(|(n, _)| n), Some(0));
        drop(items);
        // Everything in flight is dropped, and the stage as well.
        while Arc::strong_count(&token) > 1 {
            std::thread::yield_now();
        }
    });
}

#[test]
fn a_panic_comes_behind_the_items_before_it() {
    within(|| {
        let stream = Stream::from_iter(0..100).workers(2).map(|n| if n == 7 { panic!("seven") } else { n });
        let mut items = block_on_stream(stream.into_async());
        for n in 0..7 {
            assert_eq!(items.next(), Some(n));
        }
        let payload = catch_unwind(AssertUnwindSafe(|| items.next())).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"seven"));
    });
}

/// The numbers below `count`, and then it is pending for ever. The token tells whether the stream still
/// exists.
fn silent(count: u32, token: &Arc<()>) -> impl futures::Stream<Item = u32> + Send + use<> {
    falls_silent(count, token, &Gate::default())
}

/// Like [`silent`], with a gate that opens when the stream is pending.
fn falls_silent(
    count: u32,
    token: &Arc<()>,
    is_pending: &Gate,
) -> impl futures::Stream<Item = u32> + Send + use<> {
    let (held, is_pending) = (Arc::clone(token), is_pending.clone());
    let pending = poll_fn(move |_| {
        let _ = &held;
        is_pending.open();
        Poll::Pending
    });
    futures::stream::iter(0..count).chain(pending)
}

#[test]
fn a_failure_ends_the_stream_while_the_source_is_pending() {
    for workers in 1..=3 {
        let (seen, result) = within(move || {
            let mut seen = Vec::new();
            let stream = Stream::from_async(silent(3, &Arc::default())).workers(workers);
            let failing = stream.try_map(|n| if n == 2 { Err("two") } else { Ok(n) });
            let result = failing.for_each(|n| seen.push(n));
            (seen, result)
        });
        assert_eq!((seen, result), (vec![0, 1], Err("two")));
    }
}

#[test]
fn a_token_ends_the_stream_while_the_source_is_pending() {
    for is_inline in [false, true] {
        within(move || {
            let token = CancelToken::new();
            let stream = Stream::from_async(silent(3, &Arc::default())).cancel_by(&token);
            let stream = stream.inspect(|&n| {
                if n == 2 {
                    token.drain()
                }
            });
            assert_eq!(if is_inline { stream.inline() } else { stream }.count(), 3);
        });
        within(move || {
            let (token, is_pending) = (CancelToken::new(), Gate::default());
            let canceller = token.clone();
            let stream = Stream::from_async(falls_silent(0, &Arc::default(), &is_pending)).cancel_by(&token);
            let thread = std::thread::spawn(move || {
                is_pending.pass();
                std::thread::sleep(Duration::from_micros(300)); // until the source sleeps
                canceller.cancel();
            });
            assert_eq!(if is_inline { stream.inline() } else { stream }.count(), 0);
            thread.join().unwrap();
        });
    }
}

#[test]
fn dropping_the_reader_stops_the_stream_while_the_source_is_pending() {
    within(|| {
        let token = Arc::new(());
        let mut items = block_on_stream(Stream::from_async(silent(3, &token)).map(|n| n + 1).into_async());
        assert_eq!(items.by_ref().take(3).collect::<Vec<_>>(), [1, 2, 3]);
        drop(items);
        while Arc::strong_count(&token) > 1 {
            std::thread::yield_now();
        }
        // Dropping an iterator waits for the threads.
        let mut items = Stream::from_async(silent(3, &token)).map(|n| n + 1).into_iter();
        assert_eq!(items.by_ref().take(3).collect::<Vec<_>>(), [1, 2, 3]);
        drop(items);
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

#[test]
fn a_waker_may_outlive_its_stream() {
    within(|| {
        let mut wakers = Vec::new();
        let source = poll_fn(|context| {
            wakers.push(context.waker().clone());
            Poll::Ready((wakers.len() < 4).then_some(wakers.len()))
        });
        assert_eq!(Stream::from_async(source).collect::<Vec<_>>(), [1, 2, 3]);
        wakers.into_iter().for_each(std::task::Waker::wake);
    });
}

#[test]
fn the_first_error_of_an_asynchronous_source_ends_the_stream() {
    within(|| {
        for workers in 1..=3 {
            let source =
                futures::stream::iter((0..100u32).map(|n| if n == 60 { Err("sixty") } else { Ok(n) }));
            let mut seen = Vec::new();
            let result = anabranch::Stream::try_from_async(source)
                .workers(workers)
                .map(|n| n + 1)
                .for_each(|n| seen.push(n));
            assert_eq!((seen, result), ((1..=60).collect(), Err("sixty")));
        }
    });
}
