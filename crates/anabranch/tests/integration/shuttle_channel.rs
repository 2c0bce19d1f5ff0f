//! Items that are posted to a channel while it is closed, taken back, or dropped with its stream, in many random schedules:
//! each item is in one place, and each posting thread goes on.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use crate::model::check;
use anabranch::{SendError, Sender, Stream, TrySendError};
use anabranch_record::sync::{Arc, Mutex, lock, thread};

/// Posts two items, and returns those that came back.
fn posts(sender: Sender<u64>, first: u64) -> thread::JoinHandle<Vec<u64>> {
    thread::spawn(move || {
        let back = |n| sender.send(n).err().map(|SendError(n)| n);
        (first..first + 2).filter_map(back).collect()
    })
}

/// Checks that the parts are the items 0 to 3 together.
fn are_all(parts: impl IntoIterator<Item = Vec<u64>>) {
    let mut all: Vec<u64> = parts.into_iter().flatten().collect();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3]);
}

#[test]
fn each_item_is_handled_or_comes_back_if_the_stream_ends_early() {
    for (capacity, workers) in [(0, 1), (0, 2), (1, 1), (2, 2)] {
        check(300, move || {
            let (sender, stream) = Stream::channel(capacity);
            sender.keep_unhandled();
            let posters = [posts(sender.clone(), 0), posts(sender.clone(), 2)];
            let seen = Arc::new(Mutex::new(Vec::new()));
            let handled = Arc::clone(&seen);
            let last = stream.workers(workers).burst(1).window(1).find(move |n: &u64| {
                lock(&handled).push(*n);
                *n == 2
            });
            assert!(last.is_some());
            let back = posters.map(|poster| poster.join().unwrap());
            let seen = std::mem::take(&mut *lock(&seen));
            let pulled = 4 - back.iter().flatten().count() - sender.take_back().len() - seen.len();
            // An item that had entered the stream when it ended is dropped with it.
            assert!(pulled <= 1, "{pulled} of the items 0 to 3 are nowhere");
        });
    }
}

#[test]
fn each_item_is_handled_or_comes_back_if_the_channel_is_closed() {
    for capacity in [0, 1, 4] {
        check(300, move || {
            let (sender, stream) = Stream::channel(capacity);
            let posters = [posts(sender.clone(), 0), posts(sender.clone(), 2)];
            let closer = thread::spawn(move || sender.close());
            let handled = stream.workers(2).map(|n| n).collect::<Vec<u64>>();
            closer.join().unwrap();
            let [one, other] = posters.map(|poster| poster.join().unwrap());
            are_all([handled, one, other]);
        });
    }
}

#[test]
fn each_item_is_handled_or_taken_back() {
    for capacity in [0, 1, 4] {
        check(300, move || {
            let (sender, stream) = Stream::channel(capacity);
            let posters = [posts(sender.clone(), 0), posts(sender.clone(), 2)];
            let taker = thread::spawn(move || sender.take_back());
            let handled = stream.collect::<Vec<u64>>();
            are_all([handled, taker.join().unwrap(), posters.map(|poster| poster.join().unwrap()).concat()]);
        });
    }
}

#[test]
fn posting_threads_that_wait_for_room_go_on() {
    for capacity in [0, 1] {
        check(300, move || {
            let (sender, stream) = Stream::channel(capacity);
            let posters = [posts(sender.clone(), 0), posts(sender, 2)];
            let handled = stream.collect::<Vec<u64>>();
            are_all([handled, posters.map(|poster| poster.join().unwrap()).concat()]);
        });
    }
}

#[test]
fn a_source_that_waits_gets_an_item_that_does_not() {
    check(300, || {
        let (sender, stream) = Stream::channel(0);
        let poster = thread::spawn(move || {
            for n in 0..2 {
                while let Err(error) = sender.try_send(n) {
                    assert_eq!(error, TrySendError::Full(n));
                    thread::yield_now();
                }
            }
        });
        assert_eq!(stream.collect::<Vec<u64>>(), [0, 1]);
        poster.join().unwrap();
    });
}
