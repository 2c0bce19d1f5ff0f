//! Streams that the threads of a pool run alone, in many random schedules: a thread that leaves its slot leaves no work behind
//! that brings no thread back, and the reader gets all results and the end.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use std::sync::Arc as StdArc;

use crate::model::{Gate, check};
use anabranch::{CancelToken, Items, Pool, Sender, Stream};
use anabranch_record::sync::{Arc, thread};

fn service(pool: &StdArc<Pool>, capacity: usize, window: usize) -> (Sender<u64>, Items<u64>) {
    let (sender, stream) = Stream::channel(capacity);
    let stream = stream.pool(pool).window(window).burst(1).map(|n: u64| n + 1).serial_map(|n| n).map(|n| n);
    (sender, stream.into_iter())
}

/// Posts items on a thread of its own. It is not a scoped thread, as in the models of pauses.
fn posts(sender: Sender<u64>, items: u64) -> thread::JoinHandle<()> {
    thread::spawn(move || (0..items).for_each(|n| sender.send(n).unwrap()))
}

#[test]
fn all_results_come_and_then_the_end() {
    for (threads, capacity, window) in [(1, 1, 1), (2, 1, 2), (2, 0, 3), (2, 4, 8)] {
        check(200, move || {
            let pool = StdArc::new(Pool::new(threads));
            let (sender, results) = service(&pool, capacity, window);
            let poster = posts(sender, 3);
            assert_eq!(results.collect::<Vec<_>>(), [1, 2, 3]);
            poster.join().unwrap();
        });
    }
}

#[test]
fn a_stream_that_fell_asleep_answers_again() {
    for threads in [1, 2] {
        check(300, move || {
            let pool = StdArc::new(Pool::new(threads));
            let (sender, mut results) = service(&pool, 4, 8);
            for n in 0..3 {
                sender.send(n).unwrap();
                assert_eq!(results.next(), Some(n + 1));
            }
        });
    }
}

#[test]
fn two_streams_share_one_thread() {
    check(300, || {
        let pool = StdArc::new(Pool::new(1));
        let (one, other) = (service(&pool, 2, 2), service(&pool, 1, 4));
        let posters = [posts(one.0, 2), posts(other.0, 2)];
        assert_eq!(one.1.chain(other.1).collect::<Vec<_>>(), [1, 2, 1, 2]);
        posters.into_iter().for_each(|poster| poster.join().unwrap());
    });
}

#[test]
fn two_items_that_wait_for_each_other_get_two_threads() {
    check(300, || {
        let pool = StdArc::new(Pool::new(2));
        let (sender, stream) = Stream::channel(4);
        let met = Arc::new(Gate::new());
        let meets = move |n: u64| {
            met.pass();
            met.wait_for(2);
            n
        };
        let mut results = stream.pool(&pool).window(4).burst(1).map(meets).into_iter();
        sender.send(7).unwrap();
        sender.send(8).unwrap();
        assert_eq!((results.next(), results.next()), (Some(7), Some(8)));
    });
}

#[test]
fn a_reader_goes_at_any_time() {
    check(300, || {
        let pool = StdArc::new(Pool::new(2));
        let (sender, mut results) = service(&pool, 1, 2);
        let poster = thread::spawn(move || (0..3).take_while(|&n| sender.send(n).is_ok()).count());
        let first = results.next();
        drop(results);
        drop(pool);
        assert_eq!(first, Some(1));
        assert!(poster.join().unwrap() >= 1);
    });
}

#[test]
fn a_token_ends_a_stream_for_which_nothing_is_posted() {
    for ends in [CancelToken::cancel as fn(&CancelToken), CancelToken::drain] {
        check(300, move || {
            let pool = StdArc::new(Pool::new(2));
            let token = CancelToken::new();
            let (sender, stream) = Stream::channel(1);
            let mut results = stream.pool(&pool).cancel_by(&token).map(|n: u64| n).into_iter();
            let other = thread::spawn(move || ends(&token));
            assert_eq!(results.next(), None);
            other.join().unwrap();
            assert!(sender.send(1).is_err());
        });
    }
}

#[test]
fn the_first_error_reaches_the_reader() {
    check(200, || {
        let pool = StdArc::new(Pool::new(2));
        let (sender, stream) = Stream::channel(4);
        let results =
            stream.pool(&pool).burst(1).try_map(|n: u64| if n == 1 { Err(n) } else { Ok(n) }).into_iter();
        let poster = thread::spawn(move || (0..3).take_while(|&n| sender.send(n).is_ok()).count());
        assert_eq!(results.collect::<Vec<_>>(), [Ok(0), Err(1)]);
        poster.join().unwrap();
    });
}
